-- What kind of news a changelog is: new, improved or fixed. NULL: none of these.
ALTER TABLE changelogs ADD COLUMN category TEXT;

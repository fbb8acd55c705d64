DROP FUNCTION search_similar_words(text, bigint);
DROP FUNCTION search_matches(tsquery, bigint, bigint);
DROP TABLE search_words;
DROP TABLE search_documents;

DROP TABLE search_trigrams;
DROP TABLE search_words;
DROP TABLE search_index;
DROP TABLE search_documents;

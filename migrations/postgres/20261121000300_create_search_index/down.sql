DROP FUNCTION search_similar_words(uuid, text, bigint);
DROP FUNCTION search_walk(uuid, tsquery, integer, bigint, integer, bigint);
DROP FUNCTION search_matches(uuid, tsquery, bigint);
DROP TABLE search_words;
DROP TABLE search_documents;

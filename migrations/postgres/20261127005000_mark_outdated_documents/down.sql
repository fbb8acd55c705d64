DROP TABLE outdated_documents;

-- The companies of customers: the domains of their addresses, what is behind the last `@`, unless people have addresses
-- there for themselves. The domain of the product has the same rule.
CREATE VIEW customer_companies (workspace_id, customer_id, company) AS
SELECT workspace_id, id, domain FROM (
    SELECT workspace_id, id,
           substr(email_folded, length(rtrim(email_folded, replace(email_folded, '@', ''))) + 1) AS domain
    FROM customers WHERE instr(email_folded, '@') > 0
)
WHERE substr(domain, -8) <> '.invalid' AND domain NOT IN (
    '126.com', '139.com', '163.com', 'aol.com', 'arcor.de', 'bigpond.com', 'bk.ru', 'bluewin.ch', 'bol.com.br',
    'btinternet.com', 'comcast.net', 'cox.net', 'daum.net', 'earthlink.net', 'fastmail.com', 'foxmail.com',
    'free.fr', 'freenet.de', 'gmail.com', 'gmx.at', 'gmx.ch', 'gmx.com', 'gmx.de', 'gmx.net', 'googlemail.com',
    'hanmail.net', 'hey.com', 'hotmail.co.uk', 'hotmail.com', 'hotmail.de', 'hotmail.fr', 'hotmail.it',
    'hushmail.com', 'icloud.com', 'inbox.ru', 'laposte.net', 'libero.it', 'list.ru', 'live.com', 'live.nl',
    'mac.com', 'mail.com', 'mail.ru', 'mailbox.org', 'me.com', 'msn.com', 'naver.com', 'orange.fr', 'outlook.com',
    'outlook.de', 'pm.me', 'posteo.de', 'proton.me', 'protonmail.com', 'qq.com', 'rediffmail.com', 'rocketmail.com',
    'seznam.cz', 'sfr.fr', 't-online.de', 'tuta.com', 'web.de', 'yahoo.co.jp', 'yahoo.co.uk', 'yahoo.com',
    'yahoo.de', 'yandex.ru', 'ymail.com'
);

-- How many customers of a company have voted for a feature request or for what is merged into it. There is no row without
-- one. Rows of merged feature requests mean nothing.
CREATE TABLE company_tallies (
    workspace_id BLOB NOT NULL,
    request_id BLOB NOT NULL,
    company TEXT NOT NULL,
    voters_count INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, request_id, company),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id)
) STRICT, WITHOUT ROWID;

INSERT INTO company_tallies (workspace_id, request_id, company, voters_count)
SELECT votes.workspace_id, coalesce(tally.root_id, tally.request_id), of_voter.company, count(DISTINCT votes.customer_id)
FROM votes
JOIN vote_tallies tally ON tally.workspace_id = votes.workspace_id AND tally.request_id = votes.request_id
JOIN customer_companies of_voter
  ON of_voter.workspace_id = votes.workspace_id AND of_voter.customer_id = votes.customer_id
GROUP BY 1, 2, 3;

-- The number of companies whose customers have voted: of rows of `company_tallies`.
ALTER TABLE vote_tallies ADD COLUMN companies_count INTEGER NOT NULL DEFAULT 0;

UPDATE vote_tallies SET companies_count = counted.companies FROM (
    SELECT workspace_id, request_id, count(*) AS companies FROM company_tallies GROUP BY workspace_id, request_id
) AS counted
WHERE counted.workspace_id = vote_tallies.workspace_id AND counted.request_id = vote_tallies.request_id;

CREATE INDEX vote_tallies_by_companies ON vote_tallies (workspace_id, track_id, companies_count) WHERE root_id IS NULL;

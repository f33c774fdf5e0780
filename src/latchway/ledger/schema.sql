-- The ledger's tables, and the rules that hold whatever the code above them does.
--
-- Amounts are whole nano-USD, times are Unix milliseconds. An account's figures are those of the
-- last link of its chain, and each link must follow from the one before it; a link, a price and a
-- closed turn never change; a third attempt, a second one on the same route, a second billed one, or
-- more than was granted, is refused here.
--
-- Words are compared with `=` and not looked for with `IN`: SQLite would build the list of three or
-- more anew for each row, and that costs more than to write it.

-- One row for each start of a gateway on this database, and of each of its workers (`under`: the
-- gateway's row). An open turn of a gateway before the last has lost the process that served it.
CREATE TABLE epoch (
    epoch INTEGER PRIMARY KEY,
    served_by TEXT NOT NULL,
    began_ms INTEGER NOT NULL,
    under INTEGER REFERENCES epoch
) STRICT;

-- A client key and its prepaid balance. `digest` is the SHA-256 of the whole secret; `grants` counts
-- the links that no turn vouches for, so that not even the last of a chain can go unnoticed.
CREATE TABLE account (
    account INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    public_id TEXT NOT NULL UNIQUE,
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    unlimited INTEGER NOT NULL CHECK (unlimited IN (0, 1)),
    created_ms INTEGER NOT NULL,
    revoked_ms INTEGER,
    grants INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE price (
    price INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    input INTEGER NOT NULL CHECK (input >= 0),
    cached_input INTEGER NOT NULL CHECK (cached_input >= 0),
    cache_write INTEGER NOT NULL CHECK (cache_write >= 0),
    output INTEGER NOT NULL CHECK (output >= 0),
    reasoning INTEGER NOT NULL CHECK (reasoning >= 0),
    since_ms INTEGER NOT NULL,
    UNIQUE (model, input, cached_input, cache_write, output, reasoning)
) STRICT;

-- One client request. `route` is its first attempt's and there before the call; `second_route` is
-- its replay's; there is no third. `billed` is the number of the attempt that was paid for.
-- `settled`: usage or an estimate was charged, be it zero. `void`: all of it was released.
-- `response_id` and `response_route`: what was delivered, and where it was made.
CREATE TABLE turn (
    turn INTEGER PRIMARY KEY,
    request_id TEXT NOT NULL UNIQUE,
    account INTEGER NOT NULL REFERENCES account,
    epoch INTEGER NOT NULL REFERENCES epoch,
    model TEXT NOT NULL,
    price INTEGER NOT NULL REFERENCES price,
    reserved INTEGER NOT NULL CHECK (reserved >= 0),
    opened_ms INTEGER NOT NULL,
    route TEXT NOT NULL,
    second_route TEXT CHECK (second_route <> route),
    second_began_ms INTEGER CHECK ((second_began_ms IS NULL) = (second_route IS NULL)),
    billed INTEGER CHECK (billed = 1 OR (billed = 2 AND second_route IS NOT NULL)),
    state TEXT NOT NULL DEFAULT 'open'
        CHECK (state = 'open' OR state = 'settled' OR state = 'void'),
    charged INTEGER NOT NULL DEFAULT 0 CHECK (charged BETWEEN 0 AND reserved),
    loss INTEGER NOT NULL DEFAULT 0 CHECK (loss >= 0),
    loss_reason TEXT,
    basis TEXT CHECK (basis = 'upstream' OR basis = 'estimated' OR basis = 'none'),
    input_tokens INTEGER,
    cached_tokens INTEGER,
    cache_write_tokens INTEGER,
    output_tokens INTEGER,
    reasoning_tokens INTEGER,
    response_id TEXT,
    response_route TEXT CHECK ((response_route IS NULL) = (response_id IS NULL)),
    closed_ms INTEGER,
    CHECK (state = 'settled' OR charged = 0),
    CHECK (charged = 0 OR billed IS NOT NULL),
    CHECK ((state = 'open') = (closed_ms IS NULL)),
    CHECK ((state = 'open') = (basis IS NULL)),
    CHECK ((input_tokens IS NULL) = (output_tokens IS NULL))
) STRICT;
CREATE INDEX turn_open ON turn (turn) WHERE state = 'open';

-- Which route made what an owner may send back: a response, an item, a conversation, by the digest
-- of its id or content. Not money: the oldest rows are deleted. A rowid is a row's age.
CREATE TABLE made (
    owner TEXT NOT NULL,
    mark BLOB NOT NULL CHECK (length(mark) = 12),
    route TEXT NOT NULL,
    made_ms INTEGER NOT NULL,
    PRIMARY KEY (mark, owner)
) STRICT;

-- What moved an account's figures, in order: a grant, a turn's reservation, a turn's end, or an
-- adjustment, of `amount`. An end has the amount of the reservation; `charge` is what was kept of
-- it, all else is released, and `loss` is what the operator bears. `number` counts an account's
-- links from 1; `granted`, `charged` and `reserved` are the account's once the link is made; `hash`
-- covers all of it and the hash before it.
CREATE TABLE chain (
    account INTEGER NOT NULL REFERENCES account,
    number INTEGER NOT NULL,
    turn INTEGER REFERENCES turn,
    kind TEXT NOT NULL
        CHECK (kind = 'grant' OR kind = 'reserve' OR kind = 'end' OR kind = 'adjust'),
    amount INTEGER NOT NULL CHECK (amount >= 0),
    charge INTEGER NOT NULL CHECK (charge BETWEEN 0 AND amount),
    loss INTEGER NOT NULL CHECK (loss >= 0),
    granted INTEGER NOT NULL,
    charged INTEGER NOT NULL CHECK (charged >= 0),
    reserved INTEGER NOT NULL CHECK (reserved >= 0),
    at_ms INTEGER NOT NULL,
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    PRIMARY KEY (account, number),
    UNIQUE (turn, kind),
    CHECK ((kind = 'grant') = (turn IS NULL)),
    CHECK (kind = 'end' OR (charge = 0 AND loss = 0))
) STRICT, WITHOUT ROWID;

-- The chain as people read it: an end is its charge, its release and its loss, as far as there are
-- any; of a reservation of zero at least its release, so that every turn's entries show its end.
CREATE VIEW entry AS
SELECT account, number, 1 AS part, turn, kind, amount, at_ms FROM chain WHERE kind <> 'end'
UNION ALL
SELECT account, number, 1, turn, 'charge', charge, at_ms FROM chain WHERE kind = 'end'
    AND charge > 0
UNION ALL
SELECT account, number, 2, turn, 'release', amount - charge, at_ms FROM chain WHERE kind = 'end'
    AND (amount > charge OR charge = 0)
UNION ALL
SELECT account, number, 3, turn, 'loss', loss, at_ms FROM chain WHERE kind = 'end' AND loss > 0;

-- The request log. `record` is the JSON of `requests show`; the other columns are there to find it.
CREATE TABLE log (
    request_id TEXT NOT NULL PRIMARY KEY,
    response_id TEXT,
    key TEXT,
    owner TEXT,
    started_at TEXT NOT NULL,
    record TEXT NOT NULL
) STRICT;
CREATE INDEX log_response ON log (response_id) WHERE response_id IS NOT NULL;

-- Links: added only, in order, each with the figures that follow from the one before.
CREATE TRIGGER chain_kept BEFORE UPDATE ON chain
BEGIN SELECT RAISE(ABORT, 'a link of a chain is never changed'); END;

CREATE TRIGGER chain_stays BEFORE DELETE ON chain
BEGIN SELECT RAISE(ABORT, 'a link of a chain is never deleted'); END;

CREATE TRIGGER chain_begins BEFORE INSERT ON chain
WHEN NEW.number < 2 AND (NEW.number, NEW.kind, NEW.granted, NEW.charged, NEW.reserved)
    IS NOT (1, 'grant', NEW.amount, 0, 0)
BEGIN SELECT RAISE(ABORT, 'an account begins with a grant'); END;

CREATE TRIGGER chain_follows BEFORE INSERT ON chain
WHEN NEW.number > 1 AND (NEW.granted, NEW.charged, NEW.reserved) IS NOT (
    SELECT granted + iif(NEW.kind = 'grant', NEW.amount, 0),
        charged + NEW.charge - iif(NEW.kind = 'adjust', NEW.amount, 0),
        reserved + CASE NEW.kind WHEN 'reserve' THEN NEW.amount WHEN 'end' THEN -NEW.amount
            ELSE 0 END
    FROM chain WHERE account = NEW.account AND number = NEW.number - 1)
BEGIN SELECT RAISE(ABORT, 'a link follows from the one before it'); END;

CREATE TRIGGER chain_within_grant BEFORE INSERT ON chain
WHEN NEW.charged + NEW.reserved > NEW.granted
    AND NOT EXISTS (SELECT 1 FROM account WHERE account = NEW.account AND unlimited = 1)
BEGIN SELECT RAISE(ABORT, 'more than was granted'); END;

CREATE TRIGGER chain_while_open BEFORE INSERT ON chain
WHEN (NEW.kind = 'reserve' OR NEW.kind = 'end') AND NOT EXISTS (
    SELECT 1 FROM turn WHERE turn = NEW.turn AND account = NEW.account AND state = 'open'
    AND reserved = NEW.amount)
BEGIN SELECT RAISE(ABORT, 'a reservation begins and ends with an open turn of its account'); END;

CREATE TRIGGER chain_adjusts BEFORE INSERT ON chain
WHEN NEW.kind = 'adjust' AND NOT EXISTS (
    SELECT 1 FROM turn
    WHERE turn = NEW.turn AND account = NEW.account AND state = 'settled' AND NEW.amount <= charged)
BEGIN SELECT RAISE(ABORT, 'an adjustment gives back what a settled turn was charged'); END;

CREATE TRIGGER chain_counted AFTER INSERT ON chain
WHEN NEW.kind = 'grant' OR NEW.kind = 'adjust'
BEGIN UPDATE account SET grants = grants + 1 WHERE account = NEW.account; END;

-- Accounts and prices: all that may change is that a key is revoked.
CREATE TRIGGER account_kept BEFORE UPDATE OF
    account, key, owner, public_id, digest, unlimited, created_ms ON account
BEGIN SELECT RAISE(ABORT, 'an account keeps what it was made with'); END;

CREATE TRIGGER account_revoked BEFORE UPDATE OF revoked_ms ON account
WHEN OLD.revoked_ms IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a revoked key stays revoked'); END;

CREATE TRIGGER account_stays BEFORE DELETE ON account
BEGIN SELECT RAISE(ABORT, 'an account is never deleted'); END;

CREATE TRIGGER price_kept BEFORE UPDATE ON price
BEGIN SELECT RAISE(ABORT, 'a price is never changed'); END;

CREATE TRIGGER price_stays BEFORE DELETE ON price
BEGIN SELECT RAISE(ABORT, 'a price is never deleted'); END;

-- Turns: opened, closed once, and closed only by a link that says the same.
CREATE TRIGGER turn_opens BEFORE INSERT ON turn
WHEN NEW.state <> 'open'
BEGIN SELECT RAISE(ABORT, 'a turn begins open'); END;

CREATE TRIGGER turn_final BEFORE UPDATE ON turn
WHEN OLD.state <> 'open'
BEGIN SELECT RAISE(ABORT, 'a closed turn is final'); END;

CREATE TRIGGER turn_kept BEFORE UPDATE OF
    turn, request_id, account, epoch, model, price, reserved, opened_ms, route ON turn
BEGIN SELECT RAISE(ABORT, 'a turn keeps what it was opened with'); END;

CREATE TRIGGER turn_replayed_once BEFORE UPDATE OF second_route ON turn
WHEN OLD.second_route IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a turn is replayed once'); END;

CREATE TRIGGER turn_stays BEFORE DELETE ON turn
BEGIN SELECT RAISE(ABORT, 'a turn is never deleted'); END;

CREATE TRIGGER turn_adds_up BEFORE UPDATE OF state ON turn
WHEN NEW.state <> 'open' AND (NEW.reserved, NEW.reserved, NEW.charged, NEW.loss) IS NOT (
    SELECT begun.amount, ended.amount, ended.charge, ended.loss
    FROM chain AS begun JOIN chain AS ended USING (turn)
    WHERE turn = NEW.turn AND begun.kind = 'reserve' AND ended.kind = 'end')
BEGIN SELECT RAISE(ABORT, 'the end of a closed turn adds up to its reservation'); END;

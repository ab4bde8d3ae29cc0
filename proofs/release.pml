/*
 * Gates that share a PostgreSQL store (internal/store/postgres) release calls of one principal
 * under a limit, with approvals and lockdowns. Each step is one statement. Between any two steps
 * other gates run; a gate may be suspended or die, the server may end its transaction and give
 * its locks to others, and the answer to COMMIT may be lost.
 *
 * Checked in every interleaving:
 *   limit      at most LIMIT releases in one window of the store's time
 *   recorded   arguments leave a gate only after their row is committed
 *   once       an approval releases one call
 *   lockdown   no release is committed after the order to deny everything has returned
 *
 * SQL: marks the statement of a step as the store has it. SEED_... puts a mistake in place of a
 * step, which the check must find. REACH_... claims that something never happens which does:
 * the check must refute it, so that the model is known to get there.
 */

#define GATES 3
#ifndef LIMIT
#define LIMIT 1
#endif
#define NONE 255

/* Tables. Only committed transactions change them. */
byte count, window;       /* the cell of the limit: releases in a window */
byte last;                /* window of the principal's newest fact */
bool row[GATES];          /* the record of a gate's call */
bool lockdown;
mtype = { open, approved, used };
mtype question = open;    /* all calls are equal: they ask the same question */

/* Locks, in the memory of the server. */
byte principal = NONE;    /* the gate that has the principal's row FOR UPDATE */
byte sharers;             /* gates that share the advisory lock of releases */
bool exclusive;           /* the operator has it alone */

byte clock;               /* of the store, in windows */
bool noticed;             /* NOTIFY has told the gates of an answer */

/* What an observer sees. */
bool ordered;             /* SetLockdown has returned */
bool sent[GATES];         /* the arguments of a gate's call have left it */
byte released[2];         /* committed releases by the window in which they happened */
byte uses;                /* calls that the approval released */

/* The clock of the store goes on, and is set back. */
active proctype Clock() {
	clock = 1;
	clock = 0
}

active proctype Operator() {
	/* SQL: SELECT pg_advisory_xact_lock($1) */
	atomic { sharers == 0 && !exclusive -> exclusive = true }
	/* SQL: INSERT INTO lockdown(since, author, reason) VALUES($1, $2, $3)   COMMIT */
	atomic { lockdown = true; exclusive = false }
	ordered = true
}

/* A person answers on any gate. */
active proctype Person() {
	/* SQL: SELECT body FROM approvals WHERE id = $1 FOR UPDATE   UPDATE, COMMIT */
	atomic { if :: question == open -> question = approved :: else fi }
	noticed = true
}

proctype Gate(byte g; bool asks) {
	byte seen, now;

	if
	:: !asks -> goto begin
	:: asks && noticed       /* a notice ends the wait */
#ifdef SEED_NOTIFY_TRUSTED
	   -> goto begin
#endif
	:: asks                  /* or the next look at the row does */
	fi;
	/* The approval is used in a transaction of its own, before the release. */
#ifdef SEED_APPROVAL_READ_THEN_WRITTEN
	if :: question == approved :: question != approved -> goto over fi;
	if :: question = used :: goto over fi;
#else
	/* SQL: SELECT body FROM approvals WHERE id = $1 FOR UPDATE   UPDATE, COMMIT */
	if
	:: atomic { question == approved -> question = used }
	:: question != approved -> goto over
	:: goto over             /* the gate dies, or does not learn that it committed */
	fi;
#endif

begin:
#ifdef SEED_LOCKDOWN_READ_BEFORE
	if :: lockdown -> goto over :: !lockdown fi;
#else
	/* SQL: SELECT pg_advisory_xact_lock_shared($1) */
	if :: atomic { !exclusive -> sharers++ } :: goto over fi;
#endif
#ifndef SEED_READ_THEN_WRITTEN
	/* SQL: SELECT id, name, head, last FROM principals WHERE id = ANY($1) ORDER BY id FOR UPDATE */
	if :: atomic { principal == NONE -> principal = g } :: goto rollback fi;
#endif
#ifndef SEED_LOCKDOWN_READ_BEFORE
	/* SQL: SELECT since, author, reason FROM lockdown */
	if :: lockdown -> goto rollback :: !lockdown fi;
#endif
	/* SQL: SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint */
	/* SQL: SELECT k.n, c.packed FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS k(owner, key, n) JOIN cells c */
	atomic {
#ifdef SEED_TIME_OF_THE_GATE
		if :: now = 0 :: now = 1 fi;
#else
		now = (clock > last -> clock : last);
#endif
		seen = (window == now -> count : 0)
	}
	/* The session policy decides. */
	if :: seen >= LIMIT -> goto rollback :: seen < LIMIT fi;
#ifdef SEED_SENT_BEFORE
	atomic { sent[g] = true; assert(row[g]) }
#endif
	/* SQL: UPDATE principals p SET head = n.head, last = n.last */
	/* SQL: INSERT INTO facts(session, seq, at, packed) */
	/* SQL: INSERT INTO cells(owner, key, at, packed)   and the record, COMMIT */
	if
	:: atomic {
#ifdef SEED_ROW_WITHOUT_FACTS
		if :: count = seen + 1 :: count = seen fi;
#else
		count = seen + 1;
#endif
		window = now; last = now; row[g] = true;
#ifdef SEED_TIME_OF_THE_GATE
		released[clock]++;
#else
		released[now]++;
#endif
		if :: asks -> uses++ :: !asks fi;
		assert(!ordered);                                    /* lockdown */
		assert(released[0] <= LIMIT && released[1] <= LIMIT); /* limit */
		assert(uses <= 1);                                   /* once */
#ifdef REACH_LIMIT
		assert(released[0] < LIMIT || released[1] < LIMIT)
#endif
#ifdef REACH_USE
		assert(uses < 1)
#endif
#ifndef SEED_LOCKDOWN_READ_BEFORE
		sharers--;
#endif
		if :: principal == g -> principal = NONE :: principal != g fi;
		seen = 0; now = 0
	   }
	:: goto rollback
	fi;
	if
	:: atomic {
		sent[g] = true;
		assert(row[g]);                                      /* recorded */
#ifdef REACH_SENT
		assert(!sent[0] || !sent[1])
#endif
		goto over
	   }
	:: goto over             /* the gate dies, or the answer is lost: the row exists, nothing has left */
	fi;

	/* A gate that gives up, and a server that ended the transaction of one that is suspended or
	 * dead, are the same to the others. */
rollback:
	atomic {
#ifndef SEED_LOCKDOWN_READ_BEFORE
		sharers--;
#endif
		if :: principal == g -> principal = NONE :: principal != g fi;
		seen = 0; now = 0
	}
over:	skip
}

init {
	atomic {
		bool asks;
		if :: asks = true :: asks = false fi;
		run Gate(0, asks); run Gate(1, asks); run Gate(2, false)
	}
}

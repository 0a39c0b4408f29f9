// Rounds of a fixpoint in one block, without the host.
//
// A loop is a record in global memory (package harmony/abi, LoopRecord): a head, the
// operations of a round, and the relations that they read and fill. The code of a loop
// asks for the next kernel, runs it with the whole block, and asks again. The loop ends
// when a round has added nothing, or when the host does better: it goes on at the
// operation at hand.

#pragma once

#include "target.h"

namespace loop {

// Why a loop ends.
// Behind LARGE, the loop ends within a round.
enum { FIXED = 1, LONG, LARGE, WIDE, FULL, CANCELLED };

// What an operation does.
enum { RUN, MERGE, CLEAR, BRANCH };

// Which rows of a relation a kernel reads; EACH: all of a bag.
enum { NEW_ROWS, OLD_ROWS, MERGED_ROWS, EACH };

struct Relation {
  int64_t *gauge;
  int64_t full, old; // rows that are merged, and that were a round before
  int64_t limit;     // of the gauge, for the host
  int64_t began;     // rows when the running kernel began
  int64_t is_bag;    // and no set
  int64_t *old_gauge;
  int64_t unused;
};

struct Operation {
  int64_t kind;
  Relation *relation;
  int64_t version;
  int64_t kernel; // its number in the loop's code
  int64_t *words; // its parameters
  int64_t *from, *until; // those of words that are bounds of rows
  int64_t *state, state_words;
  int64_t tile;    // rows of a tile
  Relation **list; // that the kernel fills, or that the branch looks at
  int64_t length;
  int64_t calls, source, kept; // so far
  int64_t unused;
};

struct Head {
  Operation *operations, *at;
  Operation *running; // or null
  Relation *relations;
  int64_t count;  // of relations
  int64_t most;   // rounds
  int64_t rows;   // of a source, at most
  int64_t growth; // of a relation by one kernel, about
  int64_t *end;   // a gauge, which gets rounds << 8 | why
  int64_t rounds; // that are complete
};

// leave ends the loop. Limits are again what the host has set.
RF_HELPER Operation *leave(Head *head, Operation *at, int64_t why) {
  for (int64_t i = 0; i < head->count; i++) {
    Relation *r = head->relations + i;
    target::store(r->gauge + 1, r->limit);
    if (r->old_gauge)
      target::store(r->old_gauge, r->old);
  }
  head->at = at;
  target::store(head->end, head->rounds << 8 | why);
  return 0;
}

// is_through notes what a kernel has added. It returns false if the kernel has stopped,
// or may have, because a gauge is past its limit. What it has stored in bags is gone
// then, since the host runs it again.
RF_HELPER bool is_through(Operation *op) {
  bool full = false;
  for (int64_t i = 0; i < op->length; i++) {
    const Relation *r = op->list[i];
    int64_t cursor = target::load(r->gauge);
    full |= cursor > target::load(r->gauge + 1);
    op->kept += cursor - r->began;
  }
  for (int64_t i = 0; full && i < op->length; i++)
    if (op->list[i]->is_bag)
      target::store(op->list[i]->gauge, op->list[i]->began);
  return !full;
}

// begin sets up a kernel for rows of its source.
RF_HELPER void begin(Head *head, Operation *op, int64_t from, int64_t until, int32_t threads) {
  for (int64_t i = 0; i < op->length; i++) {
    Relation *r = op->list[i];
    r->began = target::load(r->gauge);
    int64_t limit = r->began + head->growth;
    target::store(r->gauge + 1, limit < r->limit ? limit : r->limit);
  }
  *op->from = from;
  *op->until = until;
  // A tile of a GPU begins with a whole chunk of rows.
  int64_t first = threads == 1 ? from : from & ~(int64_t)3;
  for (int64_t i = 0; i < op->state_words; i++)
    op->state[i] = 0;
  op->state[1] = (until - first + op->tile - 1) / op->tile;
  op->state[2] = 1;
  if (op->state_words > 3)
    op->state[op->state_words - 1] = op->tile;
  op->calls++;
  op->source += until - from;
}

// rows_of returns the rows of a kernel's source.
RF_HELPER int64_t rows_of(const Operation *op, int64_t *from) {
  const Relation *r = op->relation;
  *from = 0;
  switch (op->version) {
  case EACH:
    return target::load(r->gauge);
  case OLD_ROWS:
    return r->old;
  case NEW_ROWS:
    *from = r->old;
  }
  return r->full;
}

// newest returns the rows of the largest delta that a branch looks at.
RF_HELPER int64_t newest(const Operation *op) {
  int64_t most = 0;
  for (int64_t i = 0; i < op->length; i++) {
    int64_t n = op->list[i]->full - op->list[i]->old;
    most = n > most ? n : most;
  }
  return most;
}

// next carries out operations up to a kernel, and returns that one, or null at the end.
RF_HELPER Operation *next(Head *head, int32_t threads) {
  Operation *op = head->at;
  if (head->running) {
    if (!is_through(op))
      return leave(head, op, FULL);
    op++;
  }
  for (;; op++) {
    Relation *r = op->relation;
    int64_t from, until;
    switch (op->kind) {
    case RUN:
      until = rows_of(op, &from);
      if (until <= from)
        continue;
      if (target::load(head->end + 1) < 0)
        return leave(head, op, CANCELLED);
      if (until - from > head->rows)
        return leave(head, op, WIDE);
      begin(head, op, from, until, threads);
      head->at = op;
      return op;
    case MERGE:
      r->old = r->full;
      r->full = target::load(r->gauge);
      continue;
    case CLEAR:
      target::store(r->gauge, (int64_t)0);
      continue;
    }
    head->rounds++;
    int64_t most = newest(op);
    if (most == 0)
      return leave(head, op, FIXED);
    op = head->operations;
    if (most > head->rows)
      return leave(head, op, LARGE);
    if (head->rounds >= head->most)
      return leave(head, op, LONG);
    op--;
  }
}

} // namespace loop

// rf_loop_next returns the address of the operation whose kernel the block runs next, or
// 0 at the end of the loop. The kernel of the call before is done with, and all that the
// block has written is there.
//
// Phases: 1 one thread carries out the operations in between; 2 all read what it found
// Barriers: 2
// Cost: a few reads of 8 bytes by one thread for each operation and each relation that a kernel fills
RF_PRIMITIVE int64_t rf_loop_next(void *record, int32_t threads) {
  loop::Head *head = (loop::Head *)record;
  if (threads > 1)
    target::barrier();
  if (target::thread() == 0)
    head->running = loop::next(head, threads);
  if (threads > 1)
    target::barrier();
  return (int64_t)head->running;
}

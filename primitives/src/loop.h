// Rounds of a fixpoint in some blocks, without the host.
//
// A loop is a record in global memory (package harmony/abi, LoopRecord): a head, the
// operations of a round, and the relations that they read and fill. Operations that run
// kernels and follow each other are a segment: they do not see what the others add, so
// each block runs some of them. After a segment the blocks meet. The last one to come
// carries out what follows up to the next segment, and says where that is. The loop ends
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

enum { MOST_OPERATIONS = 64, MOST_KERNELS = 24, MOST_RELATIONS = 64, MOST_WORDS = 256 };

struct Relation {
  int64_t *gauge;
  int64_t full, old; // rows that are merged, and that were a round before
  int64_t limit;     // of the gauge, for the host
  int64_t began;     // rows when the segment began
  int64_t is_bag;    // and no set
  int64_t *old_gauge;
  int64_t filled; // by a kernel
};

struct Operation {
  int64_t kernel;              // its number in the loop's code
  int64_t *words;              // its parameters
  int64_t count;               // of the parameters
  int64_t from, until;         // those of them that are bounds of rows
  int64_t *state, state_words;
  int64_t tile;                // rows of a tile
  int64_t *list, length;       // numbers of the relations that the kernel fills
  int64_t first, past;         // the rows of its source, in this round
  int64_t calls, source, kept; // so far
  int64_t unused;
};

struct Head {
  Operation *operations;
  // For each operation its kind, 8 bits, version, 8 bits, relation, 16 bits, whether it
  // reads what an operation before it in the segment fills, 8 bits, and the number of its
  // kernel.
  int64_t *program;
  int64_t length; // of the program
  Relation *relations;
  int64_t count;  // of relations
  int64_t looked; // a bit for each relation whose delta keeps the loop going
  int64_t blocks;
  int64_t at;     // the operation to go on with
  int64_t most;   // rounds
  int64_t rows;   // of a source, at most
  int64_t growth; // of a relation in a segment, about
  int64_t *end;   // a gauge, which gets rounds << 8 | why
  int64_t rounds; // that are complete
  int64_t counts; // whether kept is wanted
  uint64_t drawn; // blocks that have begun
  uint64_t met;   // blocks that have come to meetings
  int64_t turn;   // what the last meeting has decided
  int64_t unused;
};

// A kernel as a block runs it.
struct Kernel {
  int64_t *words, *from, *until;
  int64_t *state, state_words, tile;
};

// The state of a block, in its own memory. The first four words are what the code of a loop
// reads. Whatever does not change is copied from the record: a meeting waits for memory
// as seldom as it can.
struct Work {
  Operation *running; // or null
  int64_t kernel;     // its number
  int64_t *words, *state;
  Head *head;
  Operation *operations;
  Relation *relations;
  int64_t next;    // the operation of the segment that the block looks at next
  int64_t at, end; // of the segment
  int64_t turn;    // meetings so far
  int64_t why;     // 0, or why the loop has ended
  int64_t block, blocks, last;
  int64_t decided, rounds, cancelled;
  int64_t count, looked, most, rows, growth, counts;
  int64_t *ended; // the gauge
  int64_t taken;  // of parameters
  int64_t program[MOST_OPERATIONS];
  Kernel kernels[MOST_KERNELS];
  int64_t parameters[MOST_WORDS];
  int64_t *gauge[MOST_RELATIONS];
  int64_t limit[MOST_RELATIONS]; // for the host; of a relation that is not filled the highest
  int64_t cursor[MOST_RELATIONS], full[MOST_RELATIONS], old[MOST_RELATIONS];
};

RF_HELPER int32_t kind(int64_t op) { return (int32_t)(op & 255); }
RF_HELPER int32_t relation(int64_t op) { return (int32_t)(op >> 16 & 0xffff); }
RF_HELPER bool waits(int64_t op) { return op >> 32 & 1; }
RF_HELPER int32_t kernel(int64_t op) { return (int32_t)(op >> 40); }

// A decision has the number of the meeting, why the loop ends, if it does, and a segment.
RF_HELPER int64_t decision(int64_t why, int64_t at, int64_t end) { return why << 32 | at << 16 | end; }

// rows_of returns the rows of a kernel's source.
RF_HELPER int64_t rows_of(const Work *w, int64_t op, int64_t *from) {
  int32_t r = relation(op);
  *from = 0;
  switch (op >> 8 & 255) {
  case EACH:
    return w->cursor[r];
  case OLD_ROWS:
    return w->old[r];
  case NEW_ROWS:
    *from = w->old[r];
  }
  return w->full[r];
}

// segment finds where the segment that begins at an operation ends. It returns the most
// rows of a source.
RF_HELPER int64_t segment(const Work *w, int64_t at, int64_t *end) {
  int64_t most = 0, i = at;
  do {
    int64_t from, until = rows_of(w, w->program[i], &from);
    most = until - from > most ? until - from : most;
    i++;
  } while (kind(w->program[i]) == RUN && !waits(w->program[i]));
  *end = i;
  return most;
}

// newest returns the rows of the largest delta that keeps the loop going.
RF_HELPER int64_t newest(const Work *w) {
  int64_t most = 0;
  for (int64_t i = 0; i < w->count; i++) {
    int64_t n = w->looked >> i & 1 ? w->full[i] - w->old[i] : 0;
    most = n > most ? n : most;
  }
  return most;
}

// follow carries out operations up to the next segment with rows, and decides what is
// next.
RF_HELPER int64_t follow(Work *w) {
  for (int64_t i = w->end;;) {
    int64_t op = w->program[i], r = relation(op), end, most;
    switch (kind(op)) {
    case RUN:
      most = segment(w, i, &end);
      if (most == 0) {
        i = end;
        continue;
      }
      return decision(w->cancelled ? CANCELLED : most > w->rows ? WIDE : 0, i, end);
    case MERGE:
      w->old[r] = w->full[r];
      w->full[r] = w->cursor[r];
      i++;
      continue;
    case CLEAR:
      w->cursor[r] = 0;
      i++;
      continue;
    }
    w->rounds++;
    most = newest(w);
    if (most == 0)
      return decision(FIXED, i, i);
    if (most > w->rows)
      return decision(LARGE, 0, 0);
    if (w->rounds >= w->most)
      return decision(LONG, 0, 0);
    i = 0;
  }
}

// count adds up the tuples of a segment. Those of a relation are counted for the first
// operation that fills it.
RF_HELPER void count(const Work *w) {
  uint64_t seen = 0;
  for (int64_t i = w->at; i < w->end; i++) {
    Operation *op = w->operations + i;
    for (int64_t k = 0; k < op->length; k++) {
      int64_t r = op->list[k];
      if (!(seen >> r & 1))
        op->kept += w->cursor[r] - target::load(&w->relations[r].began);
      seen |= (uint64_t)1 << r;
    }
  }
}

// look reads what the block needs to know of the relations. It returns whether a kernel
// has stopped, or may have, because a gauge is past its limit. The last block of the
// meeting before knows their versions.
RF_HELPER bool look(Work *w, bool knows, int32_t threads) {
  bool full = false;
  for (int64_t i = target::thread(); i < w->count; i += threads) {
    int64_t cursor = target::load(w->gauge[i]);
    full |= w->limit[i] >= 0 && cursor > target::load(w->gauge[i] + 1);
    w->cursor[i] = cursor;
    if (!knows) {
      w->full[i] = target::load(&w->relations[i].full);
      w->old[i] = target::load(&w->relations[i].old);
    }
  }
  if (target::thread() == 0) {
    if (!knows)
      w->rounds = target::load(&w->head->rounds);
    w->cancelled = target::load(w->ended + 1) < 0;
  }
  return threads == 1 ? full : target::barrier_any(full);
}

// settle writes what a meeting has decided of a relation. What bags got in a segment that
// the host runs again is gone.
RF_HELPER void settle(Work *w, int64_t i, int64_t why) {
  Relation *r = w->relations + i;
  int64_t cursor = w->cursor[i];
  if (r->is_bag) {
    cursor = why == FULL ? target::load(&r->began) : cursor;
    target::store(w->gauge[i], cursor);
  }
  if (w->blocks > 1 || why) {
    target::store(&r->full, w->full[i]);
    target::store(&r->old, w->old[i]);
  }
  target::store(&r->began, cursor);
  if (w->limit[i] >= 0) {
    int64_t limit = cursor + w->growth;
    target::store(w->gauge[i] + 1, why == 0 && limit < w->limit[i] ? limit : w->limit[i]);
  }
  if (why && r->old_gauge)
    target::store(r->old_gauge, w->old[i]);
}

// prepare notes the rows of a kernel's source.
RF_HELPER void prepare(const Work *w, int64_t i) {
  Operation *op = w->operations + i;
  int64_t from, until = rows_of(w, w->program[i], &from);
  if (w->blocks > 1) {
    target::store(&op->first, from);
    target::store(&op->past, until);
  }
  if (w->counts && until > from) {
    op->calls++;
    op->source += until - from;
  }
}

// advance goes on behind a segment that all blocks are through with.
RF_HELPER void advance(Work *w, bool knows, int32_t threads) {
  bool full = look(w, knows, threads);
  if (target::thread() == 0) {
    if (w->counts)
      count(w);
    w->decided = full ? decision(FULL, w->at, w->end) : follow(w);
    target::store(&w->head->rounds, w->rounds);
  }
  if (threads > 1)
    target::barrier();
  int64_t why = w->decided >> 32, at = w->decided >> 16 & 0xffff, end = w->decided & 0xffff;
  for (int64_t i = target::thread(); i < w->count; i += threads)
    settle(w, i, why);
  if (why == 0)
    for (int64_t i = at + target::thread(); i < end; i += threads)
      prepare(w, i);
  else if (target::thread() == 0) {
    target::store(&w->head->at, at);
    target::store(w->ended, w->rounds << 8 | why);
  }
}

// meet waits for all blocks, and takes over what the last one to come decides.
RF_HELPER void meet(Work *w, int32_t threads) {
  Head *h = w->head;
  bool knew = w->last;
  if (threads > 1)
    target::barrier();
  if (target::thread() == 0) {
    w->turn++;
    if (w->blocks > 1) {
      target::fence();
      uint64_t come = target::add(&h->met, (uint64_t)1) + 1;
      w->last = come == (uint64_t)w->blocks * (uint64_t)w->turn;
    }
  }
  if (threads > 1)
    target::barrier();
  if (w->last) {
    advance(w, knew, threads);
    if (threads > 1)
      target::barrier();
  }
  if (target::thread() == 0) {
    int64_t turn = w->turn << 40;
    if (!w->last) {
      while ((w->decided = target::load(&h->turn)) >> 40 != w->turn)
        target::relax();
      w->decided -= turn;
      target::fence();
    } else if (w->blocks > 1) {
      target::fence();
      target::store(&h->turn, turn | w->decided);
    }
    w->why = w->decided >> 32, w->at = w->decided >> 16 & 0xffff, w->end = w->decided & 0xffff;
    w->next = w->at + w->block;
  }
}

// pick chooses the next operation of the segment that the block runs, and sets up its
// kernel.
RF_HELPER void pick(Work *w, int32_t threads) {
  w->running = 0;
  while (w->why == 0 && w->next < w->end) {
    int64_t i = w->next, from, until;
    Operation *op = w->operations + i;
    w->next += w->blocks;
    if (w->last) {
      until = rows_of(w, w->program[i], &from);
    } else {
      from = target::load(&op->first);
      until = target::load(&op->past);
    }
    if (until <= from)
      continue;
    w->running = op;
    w->kernel = kernel(w->program[i]);
    const Kernel *k = w->kernels + w->kernel;
    *k->from = from;
    *k->until = until;
    w->words = k->words, w->state = k->state;
    // A tile of a GPU begins with a whole chunk of rows.
    int64_t first = threads == 1 ? from : from & ~(int64_t)3;
    for (int64_t j = 0; j < k->state_words; j++)
      k->state[j] = 0;
    k->state[1] = (until - first + k->tile - 1) / k->tile;
    k->state[2] = 1;
    if (k->state_words > 3)
      k->state[k->state_words - 1] = k->tile;
    return;
  }
}

// copy takes over what does not change of the head.
RF_HELPER void copy(Work *w, Head *h) {
  w->head = h;
  w->operations = h->operations, w->relations = h->relations;
  w->block = h->blocks > 1 ? (int64_t)target::add(&h->drawn, (uint64_t)1) : 0;
  w->blocks = h->blocks, w->last = h->blocks == 1;
  w->count = h->count, w->looked = h->looked, w->most = h->most, w->rows = h->rows;
  w->growth = h->growth, w->counts = h->counts, w->ended = h->end;
  w->rounds = w->turn = w->why = w->taken = 0;
  w->next = w->at = w->end = h->at;
}

} // namespace loop

// rf_loop_begin has a block take part in a loop. Work is its own memory, which all threads
// share.
//
// Phases: 1 one thread copies the head, all the rest; 2 one places the parameters; 3 all copy these
// Barriers: 3
// Cost: some reads of 8 bytes, one after the other, and one atomic
RF_PRIMITIVE void rf_loop_begin(void *record, int64_t *work, int32_t threads) {
  loop::Head *h = (loop::Head *)record;
  loop::Work *w = (loop::Work *)work;
  if (target::thread() == 0)
    loop::copy(w, h);
  for (int64_t i = target::thread(); i < h->length; i += threads)
    w->program[i] = h->program[i];
  for (int64_t i = target::thread(); i < h->count; i += threads) {
    const loop::Relation *r = h->relations + i;
    w->gauge[i] = r->gauge;
    w->limit[i] = r->filled ? r->limit : -1;
    w->full[i] = r->full, w->old[i] = r->old;
  }
  if (threads > 1)
    target::barrier();
  if (target::thread() == 0)
    for (int64_t i = 0; i < h->length; i++)
      if (loop::kind(w->program[i]) == loop::RUN) {
        const loop::Operation *op = h->operations + i;
        loop::Kernel *k = w->kernels + loop::kernel(w->program[i]);
        int64_t *words = op->words;
        if (w->taken + op->count <= loop::MOST_WORDS) {
          words = w->parameters + w->taken;
          w->taken += op->count;
        }
        k->words = words, k->from = words + op->from, k->until = words + op->until;
        k->state = op->state, k->state_words = op->state_words, k->tile = op->tile;
      }
  if (threads > 1)
    target::barrier();
  for (int64_t i = 0; i < h->length; i++)
    if (loop::kind(w->program[i]) == loop::RUN) {
      const loop::Operation *op = h->operations + i;
      int64_t *words = w->kernels[loop::kernel(w->program[i])].words;
      for (int64_t k = target::thread(); words != op->words && k < op->count; k += threads)
        words[k] = op->words[k];
    }
  if (threads > 1)
    target::barrier();
}

// rf_loop_next returns whether there is another kernel for the block to run: its number,
// the address of its parameters and of its state are words 1 to 3 of the work. The kernel
// of the call before is done with. Without one, the loop has ended.
//
// Phases: 1 one thread looks for an operation of the segment; 2 without one, the blocks meet
// Barriers: 2, and 7 for each meeting
// Cost: a few reads of shared memory, one after the other; some 3 microseconds for a meeting
RF_PRIMITIVE int32_t rf_loop_next(int64_t *work, int32_t threads) {
  loop::Work *w = (loop::Work *)work;
  for (;;) {
    if (threads > 1)
      target::barrier();
    if (target::thread() == 0)
      loop::pick(w, threads);
    if (threads > 1)
      target::barrier();
    if (w->running || w->why)
      return w->running != 0;
    loop::meet(w, threads);
  }
}

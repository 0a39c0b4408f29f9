// Rounds of a fixpoint in some blocks, without the host.
//
// A loop is a record in global memory (package harmony/abi, LoopRecord): a head, the
// operations of a round, and the relations that they read and fill. Operations that run
// kernels and follow each other are a segment: they do not see what the others add, so
// each block runs some of them. After a segment the blocks meet. The last one to come
// carries out what follows up to the next segment, and says where that is. Its threads do
// that side by side: operations that do not depend on each other are a stretch, and a
// segment is one of the stretches. The loop ends when a round has added nothing, or when
// the host does better: it goes on at the operation at hand.

#pragma once

#include "target.h"

namespace loop {

// Why a loop ends.
// Behind LARGE, the loop ends within a round.
enum { FIXED = 1, LONG, LARGE, WIDE, FULL, CANCELLED };

// The kinds of operation. BUILD adds rows to an index. The index has an entry among the
// relations: gauge counts the places that extents take (extents.h), old is the number of
// rows in the index, and of is the number of its relation.
enum { RUN, MERGE, CLEAR, BRANCH, BUILD };

// Which rows of a relation a kernel reads; EACH: all of a bag. The last two are those of
// the relation of an index, merged or old, that the index does not have.
enum { NEW_ROWS, OLD_ROWS, MERGED_ROWS, EACH, INDEX_MERGED, INDEX_OLD };

// MOST_WORDS are the parameters that a block has in its own memory.
enum { MOST_WORDS = 256 };

struct Relation {
  int64_t *gauge;
  int64_t full, old; // rows that are merged, and that were a round before
  int64_t limit;     // of the gauge, for the host
  int64_t began;     // rows when the segment began
  int64_t is_bag;    // and no set
  int64_t *old_gauge;
  int64_t filled; // by a kernel
  int64_t looked; // its delta keeps the loop going
  int64_t of;     // of an index, the number of its relation; -1 of a relation
};

struct Operation {
  int64_t kernel;              // its number in the loop's code
  int64_t *words;              // its parameters
  int64_t count;               // of the parameters
  int64_t from, until;         // those of them that are bounds of rows
  int64_t *state, state_words;
  int64_t tile;                // rows of a tile
  int64_t *list, length;       // numbers of the relations that the kernel fills, and no
                               // operation before it in the segment
  int64_t first, past;         // the rows of its source, in this round
  int64_t calls, source, kept; // so far
  int64_t unused;
};

struct Head {
  Operation *operations;
  // For each operation its kind, 8 bits, version, 8 bits, relation, 16 bits, how many
  // operations there are up to the end of its stretch, 16 bits, and the number of its
  // kernel.
  int64_t *program;
  int64_t length; // of the program
  Relation *relations;
  int64_t count;  // of relations
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
};

// A kernel as a block runs it.
struct Kernel {
  int64_t *words, *from, *until;
  int64_t *state, state_words, tile;
};

// The state of a block, in its own memory. The first four words are what the code of a loop
// reads. Whatever does not change is copied from the record: a meeting waits for memory
// as seldom as it can. Behind it come the parts that a loop's sizes tell, see Block.
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
  int64_t count, most, rows, growth, counts;
  int64_t *ended; // the gauge
  int64_t taken;  // of parameters
  int64_t parameters[MOST_WORDS];
};

// A block with the sizes of its loop, which are constants where a call is inlined.
struct Block {
  Work *work;
  int32_t operations, kernels, relations, threads;

  RF_MEMBER int64_t *program() const { return (int64_t *)(work + 1); }
  RF_MEMBER Kernel *kernel(int32_t k) const { return (Kernel *)(program() + operations) + k; }
  RF_MEMBER int64_t *column(int32_t c) const { return (int64_t *)kernel(kernels) + c * relations; }
  // One entry for each relation:
  RF_MEMBER int64_t **gauge() const { return (int64_t **)column(0); }
  RF_MEMBER int64_t *limit() const { return column(1); } // for the host; -1: it is not filled
  RF_MEMBER int64_t *cursor() const { return column(2); }
  RF_MEMBER int64_t *full() const { return column(3); }
  RF_MEMBER int64_t *old() const { return column(4); }
  RF_MEMBER int64_t *looked() const { return column(5); }
  RF_MEMBER int64_t *of() const { return column(6); }

  RF_MEMBER void wait() const {
    if (threads > 1)
      target::barrier();
  }
  RF_MEMBER bool any(bool p) const { return threads == 1 ? p : target::barrier_any(p); }
};

RF_HELPER int32_t kind(int64_t op) { return (int32_t)(op & 255); }
RF_HELPER int32_t relation(int64_t op) { return (int32_t)(op >> 16 & 0xffff); }
RF_HELPER int64_t stretch(int64_t op) { return op >> 32 & 0xffff; }
RF_HELPER int32_t kernel(int64_t op) { return (int32_t)(op >> 48); }
RF_HELPER bool runs(int64_t op) { return kind(op) == RUN || kind(op) == BUILD; }

// A decision has the number of the meeting, why the loop ends, if it does, and a segment.
RF_HELPER int64_t decision(int64_t why, int64_t at, int64_t end) { return why << 32 | at << 16 | end; }

// rows_of returns the rows of a kernel's source.
RF_HELPER int64_t rows_of(const Block &b, int64_t op, int64_t *from) {
  int32_t r = relation(op);
  *from = 0;
  switch (op >> 8 & 255) {
  case EACH:
    return b.cursor()[r];
  case OLD_ROWS:
    return b.old()[r];
  case INDEX_MERGED:
    *from = b.old()[r];
    return b.full()[b.of()[r]];
  case INDEX_OLD:
    *from = b.old()[r];
    return b.old()[b.of()[r]];
  case NEW_ROWS:
    *from = b.old()[r];
  }
  return b.full()[r];
}

// follow carries out operations up to the next segment with rows, and decides what is
// next.
RF_HELPER int64_t follow(const Block &b, int64_t *rounds) {
  const Work *w = b.work;
  for (int64_t i = w->end;;) {
    int64_t first = b.program()[i], end = i + stretch(first);
    bool some = false, wide = false;
    switch (kind(first)) {
    case RUN:
    case BUILD:
      for (int64_t k = i + target::thread(); k < end; k += b.threads) {
        int64_t from, until = rows_of(b, b.program()[k], &from);
        some |= until > from;
        wide |= until - from > w->rows;
      }
      if (!b.any(some)) {
        i = end;
        continue;
      }
      wide = b.any(wide);
      return decision(w->cancelled ? CANCELLED : wide ? WIDE : 0, i, end);
    case BRANCH:
      for (int64_t r = target::thread(); r < w->count; r += b.threads) {
        int64_t n = b.looked()[r] ? b.full()[r] - b.old()[r] : 0;
        some |= n > 0;
        wide |= n > w->rows;
      }
      ++*rounds;
      if (!b.any(some))
        return decision(FIXED, i, i);
      if (b.any(wide))
        return decision(LARGE, 0, 0);
      if (*rounds >= w->most)
        return decision(LONG, 0, 0);
      i = 0;
      continue;
    }
    for (int64_t k = i + target::thread(); k < end; k += b.threads) {
      int64_t op = b.program()[k], r = relation(op);
      if (kind(op) == MERGE) {
        b.old()[r] = b.full()[r];
        b.full()[r] = b.cursor()[r];
      } else {
        b.cursor()[r] = 0;
      }
    }
    b.wait();
    i = end;
  }
}

// enter notes that indexes have the rows that the segment has added.
RF_HELPER void enter(const Block &b) {
  const Work *w = b.work;
  for (int64_t i = w->at + target::thread(); i < w->end; i += b.threads) {
    int64_t op = b.program()[i], from;
    if (kind(op) == BUILD)
      b.old()[relation(op)] = rows_of(b, op, &from);
  }
  b.wait();
}

// count adds up the tuples of a segment.
RF_HELPER void count(const Block &b) {
  const Work *w = b.work;
  for (int64_t i = w->at + target::thread(); i < w->end; i += b.threads) {
    Operation *op = w->operations + i;
    for (int64_t k = 0; k < op->length; k++) {
      int64_t r = op->list[k];
      op->kept += b.cursor()[r] - target::load(&w->relations[r].began);
    }
  }
}

// look reads what the block needs to know of the relations. It returns whether a kernel
// has stopped, or may have, because a gauge is past its limit. The last block of the
// meeting before knows their versions.
RF_HELPER bool look(const Block &b, bool knows) {
  Work *w = b.work;
  bool full = false;
  for (int64_t i = target::thread(); i < w->count; i += b.threads) {
    int64_t cursor = target::load(b.gauge()[i]);
    full |= b.limit()[i] >= 0 && cursor > target::load(b.gauge()[i] + 1);
    b.cursor()[i] = cursor;
    if (!knows) {
      b.full()[i] = target::load(&w->relations[i].full);
      b.old()[i] = target::load(&w->relations[i].old);
    }
  }
  if (target::thread() == 0) {
    if (!knows)
      w->rounds = target::load(&w->head->rounds);
    w->cancelled = target::load(w->ended + 1) < 0;
  }
  return b.any(full);
}

// settle writes what a meeting has decided of a relation. What bags got in a segment that
// the host runs again is gone.
RF_HELPER void settle(const Block &b, int64_t i, int64_t why) {
  const Work *w = b.work;
  Relation *r = w->relations + i;
  int64_t cursor = b.cursor()[i];
  if (r->is_bag) {
    cursor = why == FULL ? target::load(&r->began) : cursor;
    target::store(b.gauge()[i], cursor);
  }
  if (w->blocks > 1 || why) {
    target::store(&r->full, b.full()[i]);
    target::store(&r->old, b.old()[i]);
  }
  target::store(&r->began, cursor);
  if (b.limit()[i] >= 0) {
    int64_t limit = cursor + w->growth;
    bool less = why == 0 && b.of()[i] < 0 && limit < b.limit()[i];
    target::store(b.gauge()[i] + 1, less ? limit : b.limit()[i]);
  }
  if (why && r->old_gauge)
    target::store(r->old_gauge, b.old()[i]);
}

// prepare notes the rows of a kernel's source.
RF_HELPER void prepare(const Block &b, int64_t i) {
  const Work *w = b.work;
  Operation *op = w->operations + i;
  int64_t from, until = rows_of(b, b.program()[i], &from);
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
RF_HELPER void advance(const Block &b, bool knows) {
  Work *w = b.work;
  bool full = look(b, knows);
  if (w->counts)
    count(b);
  if (!full)
    enter(b);
  int64_t rounds = w->rounds;
  int64_t decided = full ? decision(FULL, w->at, w->end) : follow(b, &rounds);
  b.wait();
  if (target::thread() == 0) {
    w->decided = decided, w->rounds = rounds;
    target::store(&w->head->rounds, rounds);
  }
  int64_t why = decided >> 32, at = decided >> 16 & 0xffff, end = decided & 0xffff;
  for (int64_t i = target::thread(); i < w->count; i += b.threads)
    settle(b, i, why);
  if (why == 0)
    for (int64_t i = at + target::thread(); i < end; i += b.threads)
      prepare(b, i);
  else if (target::thread() == 0) {
    target::store(&w->head->at, at);
    target::store(w->ended, rounds << 8 | why);
  }
}

// meet waits for all blocks, and takes over what the last one to come decides.
RF_HELPER void meet(const Block &b) {
  Work *w = b.work;
  Head *h = w->head;
  bool knew = w->last;
  b.wait();
  if (target::thread() == 0) {
    w->turn++;
    if (w->blocks > 1) {
      target::fence();
      uint64_t come = target::add(&h->met, (uint64_t)1) + 1;
      w->last = come == (uint64_t)w->blocks * (uint64_t)w->turn;
    }
  }
  b.wait();
  if (w->last) {
    advance(b, knew);
    b.wait();
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
RF_HELPER void pick(const Block &b) {
  Work *w = b.work;
  w->running = 0;
  while (w->why == 0 && w->next < w->end) {
    int64_t i = w->next, from, until;
    Operation *op = w->operations + i;
    w->next += w->blocks;
    if (w->last) {
      until = rows_of(b, b.program()[i], &from);
    } else {
      from = target::load(&op->first);
      until = target::load(&op->past);
    }
    if (until <= from)
      continue;
    w->running = op;
    w->kernel = kernel(b.program()[i]);
    const Kernel *k = b.kernel((int32_t)w->kernel);
    *k->from = from;
    *k->until = until;
    w->words = k->words, w->state = k->state;
    // A tile of a GPU begins with a whole chunk of rows.
    int64_t first = b.threads == 1 ? from : from & ~(int64_t)3;
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
  w->count = h->count, w->most = h->most, w->rows = h->rows;
  w->growth = h->growth, w->counts = h->counts, w->ended = h->end;
  w->rounds = w->turn = w->why = w->taken = 0;
  w->next = w->at = w->end = h->at;
}

// place chooses where the parameters of the block's kernels are.
RF_HELPER void place(const Block &b, int64_t length) {
  Work *w = b.work;
  for (int64_t start = 0, end; start < length; start = end) {
    end = start + stretch(b.program()[start]);
    if (!runs(b.program()[start]))
      continue;
    for (int64_t i = start + w->block; i < end; i += w->blocks) {
      const Operation *op = w->operations + i;
      Kernel *k = b.kernel(kernel(b.program()[i]));
      int64_t *words = op->words;
      if (w->taken + op->count <= MOST_WORDS) {
        words = w->parameters + w->taken;
        w->taken += op->count;
      }
      k->words = words, k->from = words + op->from, k->until = words + op->until;
      k->state = op->state, k->state_words = op->state_words, k->tile = op->tile;
    }
  }
}

// fetch reads the parameters that have a place in the block's own memory.
RF_HELPER void fetch(const Block &b, int64_t length) {
  const Work *w = b.work;
  for (int64_t start = 0, end; start < length; start = end) {
    end = start + stretch(b.program()[start]);
    if (!runs(b.program()[start]))
      continue;
    for (int64_t i = start + w->block; i < end; i += w->blocks) {
      const Operation *op = w->operations + i;
      int64_t *words = b.kernel(kernel(b.program()[i]))->words;
      for (int64_t k = target::thread(); words != op->words && k < op->count; k += b.threads)
        words[k] = op->words[k];
    }
  }
}

} // namespace loop

// rf_loop_begin adds a block to a loop. The record has at most the given numbers of
// operations, kernels and relations. Work is the block's own memory, which all threads share.
//
// Phases: 1 one thread copies the head, all the rest; 2 one places the parameters; 3 all copy these
// Barriers: 3
// Cost: some reads of 8 bytes, one after the other, and one atomic
RF_PRIMITIVE void rf_loop_begin(void *record, int64_t *work, int32_t operations, int32_t kernels,
                                int32_t relations, int32_t threads) {
  loop::Head *h = (loop::Head *)record;
  loop::Work *w = (loop::Work *)work;
  loop::Block b{w, operations, kernels, relations, threads};
  if (target::thread() == 0)
    loop::copy(w, h);
  for (int64_t i = target::thread(); i < h->length; i += threads)
    b.program()[i] = h->program[i];
  for (int64_t i = target::thread(); i < h->count; i += threads) {
    const loop::Relation *r = h->relations + i;
    b.gauge()[i] = r->gauge;
    b.limit()[i] = r->filled ? r->limit : -1;
    b.full()[i] = r->full, b.old()[i] = r->old;
    b.looked()[i] = r->looked, b.of()[i] = r->of;
  }
  b.wait();
  if (target::thread() == 0)
    loop::place(b, h->length);
  b.wait();
  loop::fetch(b, h->length);
  b.wait();
}

// rf_loop_next returns whether there is another kernel for the block to run: its number,
// the address of its parameters and of its state are words 1 to 3 of the work. The kernel
// of the call before is done with. Without one, the loop has ended.
//
// Phases: 1 one thread looks for an operation of the segment; 2 without one, the blocks meet
// Barriers: 2, and 4 for each meeting, of the last block some for each stretch
// Cost: a few reads of shared memory, one after the other; some 3 microseconds for a meeting
RF_PRIMITIVE int32_t rf_loop_next(int64_t *work, int32_t operations, int32_t kernels,
                                  int32_t relations, int32_t threads) {
  loop::Block b{(loop::Work *)work, operations, kernels, relations, threads};
  loop::Work *w = b.work;
  for (;;) {
    b.wait();
    if (target::thread() == 0)
      loop::pick(b);
    b.wait();
    if (w->running || w->why)
      return w->running != 0;
    loop::meet(b);
  }
}

// Work donation: a block of a GPU that has none of its tiles left takes over a part of
// the work of another, as in Cederman and Tsigas, "On dynamic load balancing on graphics
// processors" (2008). The part is a range of tiles, or of the rounds of an expansion
// (expand.h) within one tile, so that rows with many matches do not keep one block busy
// while the others are idle.
//
// The blocks of a launch meet at a board in global memory, which is zeroed before the
// first launch and fit for the next one after each. A block without work draws a ticket
// and waits for the slot of that number to be filled. A block that sees more tickets
// drawn than slots filled gives half of what it has left. The board closes when no block
// is at work; a block that begins later finds it closed, and works alone. So it does not
// matter which blocks of a launch run at a time.

#pragma once

#include "expand.h"
#include "target.h"

namespace donate {

enum { LEVELS = 6, SLOTS = 256 };

// The crowd is one word, so that one atomic changes all of it: tickets drawn, 32 bits;
// blocks at work, 15 bits; whether the board is closed; blocks present, 16 bits.
const uint64_t TICKET = 1, WORKING = (uint64_t)1 << 32, CLOSED = (uint64_t)1 << 47, PRESENT = (uint64_t)1 << 48;

// A range of tiles, the step between them being the launch's, or one tile in which each
// level of expansions goes on at an output. A limit is the complement of the output at
// which the level ends, or 0.
struct Part {
  int64_t number, until; // tiles
  int64_t first;         // output of the first expansion in each tile
  struct {
    int64_t at, limit;
  } levels[LEVELS];
};

struct Slot {
  uint64_t state; // 0: empty; BUSY; else 1 + the ticket
  Part part;
};

struct Board {
  uint64_t crowd;
  uint64_t given; // slots that have been filled
  uint64_t parts; // that blocks have given away in all launches
  uint64_t unused[13];
  Slot slots[SLOTS];
};

const uint64_t BUSY = ~(uint64_t)0;

// The words that describe a block's work, in shared memory. Package weaver/emit knows
// their places.
struct Work {
  int64_t found;               // whether work was taken
  int64_t number, until, step; // tiles
  int64_t first, output_step;  // outputs of the first expansion
  int64_t at[LEVELS], end[LEVELS], limit[LEVELS];
};

// Where a part is cut off: behind a place of a level, or of the tiles.
struct Cut {
  int32_t level;
  int64_t at;
};

enum { NONE = -2, TILES = -1 };

RF_HELPER int64_t working(uint64_t crowd) { return (int64_t)(crowd >> 32 & 0x7fff); }

RF_HELPER bool wanted(uint64_t crowd, uint64_t given) { return !(crowd & CLOSED) && (uint32_t)crowd > given; }

// rounds returns how many steps lead from one place to the next ones below the end.
RF_HELPER int64_t rounds(int64_t at, int64_t end, int64_t step) {
  return at < end ? (end - at + step - 1) / step - 1 : 0;
}

// choose finds the outermost range of which there is more than the round at hand.
RF_HELPER Cut choose(const Work *w, int32_t levels, int64_t tile) {
  int64_t left = rounds(w->number, w->until, w->step);
  if (left > 0)
    return Cut{TILES, w->number + w->step * (1 + left / 2)};
  for (int32_t k = 0; k < levels; k++) {
    int64_t step = k == 0 ? w->output_step : tile;
    left = rounds(w->at[k], w->end[k], step);
    if (left > 0)
      return Cut{k, w->at[k] + step * (1 + left / 2)};
  }
  return Cut{NONE, 0};
}

// split writes the part behind a cut, and ends the block's own work there.
RF_HELPER void split(Part *p, Work *w, Cut cut, int32_t levels, int64_t tile) {
  bool tiles = cut.level == TILES;
  p->number = tiles ? cut.at : w->number;
  p->until = tiles ? w->until : w->number + 1;
  p->first = w->first;
  for (int32_t k = 0; k < levels; k++) {
    p->levels[k].at = k < cut.level ? w->at[k] : k == cut.level ? cut.at : k == 0 ? w->first : 0;
    p->levels[k].limit = k < cut.level ? ~(w->at[k] + tile) : k == cut.level ? ~w->end[k] : 0;
  }
  if (tiles)
    w->until = cut.at;
  else
    w->end[cut.level] = cut.at;
}

// give offers a part to a block that waits, if there is one.
RF_HELPER void give(Board *b, Work *w, int32_t levels, int64_t tile) {
  Cut cut = choose(w, levels, tile);
  uint64_t given = target::load(&b->given);
  if (cut.level == NONE || !wanted(target::load(&b->crowd), given))
    return;
  Slot *slot = b->slots + given % SLOTS;
  if (target::cas(&slot->state, (uint64_t)0, BUSY) != 0)
    return;
  if (target::cas(&b->given, given, given + 1) != given) {
    target::store(&slot->state, (uint64_t)0);
    return;
  }
  target::add(&b->crowd, WORKING); // for the block that waits
  target::add(&b->parts, (uint64_t)1);
  split(&slot->part, w, cut, levels, tile);
  target::fence();
  target::store(&slot->state, given + 1);
}

// leave notes that a block is gone. The last one leaves the board as it was at first.
RF_HELPER void leave(Board *b, uint64_t less) {
  uint64_t crowd = target::add(&b->crowd, (uint64_t)0 - less) - less;
  if (crowd / PRESENT != 0 || !(crowd & CLOSED))
    return;
  if (target::load(&b->given) != 0) {
    target::store(&b->given, (uint64_t)0);
    target::fence();
  }
  // A block that has begun meanwhile does this when it leaves.
  target::cas(&b->crowd, crowd, (uint64_t)0);
}

// receive waits for the slot of a ticket. It returns false if the board closes.
RF_HELPER bool receive(Board *b, Work *w, uint32_t ticket, int32_t levels) {
  Slot *slot = b->slots + ticket % SLOTS;
  for (uint32_t pause = 32;; pause = pause < 512 ? 2 * pause : pause) {
    if (target::load(&slot->state) == (uint64_t)ticket + 1) {
      target::fence();
      w->number = target::load(&slot->part.number);
      w->until = target::load(&slot->part.until);
      w->first = target::load(&slot->part.first);
      for (int32_t k = 0; k < levels; k++) {
        w->at[k] = target::load(&slot->part.levels[k].at);
        w->limit[k] = target::load(&slot->part.levels[k].limit);
      }
      target::fence();
      target::store(&slot->state, (uint64_t)0);
      return true;
    }
    uint64_t crowd = target::load(&b->crowd);
    if (crowd & CLOSED)
      return false;
    if (working(crowd) == 0 && target::cas(&b->crowd, crowd, crowd | CLOSED) == crowd)
      return false;
    target::pause(pause);
  }
}

// take ends a block's work, and waits for more.
RF_HELPER void take(Board *b, Work *w, int32_t levels) {
  w->found = 0;
  if (!b)
    return;
  uint64_t crowd = target::load(&b->crowd), alone = PRESENT + WORKING;
  if (crowd == alone && target::cas(&b->crowd, crowd, (uint64_t)0) == crowd)
    return;
  if (crowd & CLOSED)
    return leave(b, alone);
  uint32_t ticket = (uint32_t)target::add(&b->crowd, TICKET - WORKING);
  if (receive(b, w, ticket, levels))
    w->found = 1;
  else
    leave(b, PRESENT);
}

} // namespace donate

// rf_donate_enter notes at a board, if there is one, that a block begins to work. One
// thread of the block calls it.
//
// Cost: one atomic that nobody waits for
RF_PRIMITIVE void rf_donate_enter(void *board) {
  if (board)
    target::add(&((donate::Board *)board)->crowd, donate::PRESENT + donate::WORKING);
}

// rf_donate_look says whether a gauge has room, as rf_block_room does, and whether
// another block wants work: 1 and 2, added up; all threads get the same answer. There
// may be no gauge, which has room, and no board.
//
// Phases: 1 a warp looks at the board, the others at the gauge; 2 they meet
// Barriers: 1
// Cost: two reads a warp
RF_PRIMITIVE int32_t rf_donate_look(const int64_t *gauge, const void *board, int32_t threads) {
  const donate::Board *b = (const donate::Board *)board;
  bool full = false, wanted = false;
  bool looks = threads <= 32 || target::thread() < 32;
  if (looks && b)
    wanted = donate::wanted(target::load(&b->crowd), target::load(&b->given));
  if (gauge && (!looks || threads <= 32))
    full = target::load(gauge) > target::load(gauge + 1);
  if (threads == 1)
    return !full + 2 * wanted;
  if (threads <= 32) {
    int32_t room = !target::barrier_any(full);
    return room + 2 * (int32_t)target::barrier_any(wanted);
  }
  // A warp counts as 32 threads that see no room, or as 16 that see a block that waits.
  int32_t votes = target::barrier_count(looks ? wanted && target::thread() < 16 : full);
  return (votes < 32) + (votes & 16) / 8;
}

// rf_donate_give gives half of what a block has left to a block that waits for work. Of
// the work, number, until, step, first, output_step, and at and end of each level, are
// set; until or the end of a level is less then. One thread calls it.
//
// Cost: three atomics and 128 bytes written
RF_PRIMITIVE void rf_donate_give(void *board, int64_t *work, int32_t levels, int64_t tile) {
  donate::give((donate::Board *)board, (donate::Work *)work, levels, tile);
}

// rf_donate_take ends a block's work and waits for a part of another's: found says
// whether there is one, which number, until, first, and at and limit of each level tell.
// If not, the block has left the board. One thread calls it.
//
// Cost: two atomics, and the time that the last block takes
RF_PRIMITIVE void rf_donate_take(void *board, int64_t *work, int32_t levels) {
  donate::take((donate::Board *)board, (donate::Work *)work, levels);
}

// rf_donate_quit notes at a board that a block leaves in the middle of its work. One
// thread calls it.
//
// Cost: one atomic
RF_PRIMITIVE void rf_donate_quit(void *board) {
  if (board)
    donate::leave((donate::Board *)board, donate::PRESENT + donate::WORKING);
}

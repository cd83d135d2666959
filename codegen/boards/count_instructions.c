/* QEMU plugin that counts how often each instruction is executed between two marks.
 *
 *   -plugin count_instructions.so,begin=0x…,end=0x…,out=FILE
 *
 * The marks are the addresses of two functions that only return. Alternatively, `begin-code` and `end-code` are the
 * encodings of two four-byte instructions that occur nowhere else; they work in libraries, whose load address is
 * unknown. For each region between the marks, the plugin writes to FILE a line `region TOTAL`, then a line
 * `ADDRESS COUNT` for every executed instruction. Conditional instructions whose condition is false are counted too,
 * because they take time.
 *
 * With `memory=on`, a line `memory LOADED STORED MISSES1 MISSES2` follows `region`: bytes loaded and stored, and the
 * misses of two cache levels with lines of 64 bytes and LRU replacement (32 KB with 4 ways, 512 KB with 8 ways). The
 * caches are not cleared at the beginning of a region.
 *
 * The used part of QEMU's plugin interface (qemu-plugin.h of version 7.2) is declared here. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void (*qemu_plugin_vcpu_tb_trans_cb_t)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*qemu_plugin_vcpu_udata_cb_t)(unsigned int vcpu_index, void *userdata);
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
typedef uint32_t qemu_plugin_meminfo_t;
typedef void (*qemu_plugin_vcpu_mem_cb_t)(unsigned int vcpu_index, qemu_plugin_meminfo_t info, uint64_t vaddr,
                                          void *userdata);

#define EXPORT __attribute__((visibility("default")))
extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_tb_trans_cb_t cb);
extern void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_udata_cb_t cb,
                                                   enum qemu_plugin_cb_flags flags, void *userdata);
extern void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, enum qemu_plugin_op op, void *ptr,
                                                       uint64_t imm);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t idx);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
extern const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
extern size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
extern void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_mem_cb_t cb,
                                             enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
                                             void *userdata);
extern unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
extern bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);

#ifndef QEMU_PLUGIN_VERSION
#define QEMU_PLUGIN_VERSION 1
#endif
EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

/* Hash table of instructions by address. It doubles when it is half full; entries do not move, as QEMU keeps pointers.
 */
typedef struct {
  uint64_t address, count;
} Instruction;

static Instruction **table;
static size_t capacity, used;
static uint64_t begin_address, end_address;
static uint32_t begin_code, end_code;
static bool counting, memory;
static FILE *out;

/* A set-associative cache with LRU replacement: each set keeps its lines in the order of last use. */
typedef struct {
  uint32_t sets, ways;
  uint64_t *lines; /* [sets, ways]: the number of the line + 1, or 0 */
  uint64_t misses;
} Cache;

static Cache caches[2] = {{128, 4, NULL, 0}, {1024, 8, NULL, 0}};
static uint64_t loaded, stored;

/* Returns whether the line was in the cache, and moves it to the front of its set. */
static bool Has(Cache *cache, uint64_t line) {
  uint64_t *set = cache->lines + line % cache->sets * cache->ways;
  uint64_t moved = line + 1;
  for (uint32_t way = 0; way < cache->ways; ++way) {
    const uint64_t here = set[way];
    set[way] = moved;
    if (here == line + 1) return true;
    moved = here;
  }
  ++cache->misses;
  return false;
}

static void Accessed(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *unused) {
  (void)vcpu, (void)unused;
  const uint64_t bytes = UINT64_C(1) << qemu_plugin_mem_size_shift(info);
  *(qemu_plugin_mem_is_store(info) ? &stored : &loaded) += bytes;
  for (uint64_t line = address / 64; line <= (address + bytes - 1) / 64; ++line) {
    if (!Has(&caches[0], line)) Has(&caches[1], line);
  }
}

static size_t Slot(uint64_t address) {
  size_t slot = (size_t)(address * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (capacity - 1);
  while (table[slot] != NULL && table[slot]->address != address) slot = (slot + 1) & (capacity - 1);
  return slot;
}

static Instruction *Find(uint64_t address) {
  if (2 * used >= capacity) {
    Instruction **old = table;
    const size_t old_capacity = capacity;
    capacity = capacity == 0 ? 4096 : 2 * capacity;
    table = calloc(capacity, sizeof *table);
    if (table == NULL) abort();
    for (size_t i = 0; i < old_capacity; ++i) {
      if (old[i] != NULL) table[Slot(old[i]->address)] = old[i];
    }
    free(old);
  }
  const size_t slot = Slot(address);
  if (table[slot] == NULL) {
    table[slot] = calloc(1, sizeof **table);
    if (table[slot] == NULL) abort();
    table[slot]->address = address;
    ++used;
  }
  return table[slot];
}

static void Begin(unsigned int vcpu, void *unused) {
  (void)vcpu, (void)unused;
  for (size_t i = 0; i < capacity; ++i) {
    if (table[i] != NULL) table[i]->count = 0;
  }
  loaded = stored = caches[0].misses = caches[1].misses = 0;
  counting = true;
}

static void End(unsigned int vcpu, void *unused) {
  (void)vcpu, (void)unused;
  if (!counting) return;
  counting = false;
  uint64_t total = 0;
  for (size_t i = 0; i < capacity; ++i) total += table[i] != NULL ? table[i]->count : 0;
  fprintf(out, "region %" PRIu64 "\n", total);
  if (memory) {
    fprintf(out, "memory %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", loaded, stored, caches[0].misses,
            caches[1].misses);
  }
  for (size_t i = 0; i < capacity; ++i) {
    if (table[i] != NULL && table[i]->count > 0) {
      fprintf(out, "%" PRIx64 " %" PRIu64 "\n", table[i]->address, table[i]->count);
    }
  }
  fflush(out);
}

/* Returns the encoding of a four-byte instruction, or 0 for other sizes. */
static uint32_t CodeOf(const struct qemu_plugin_insn *instruction) {
  if (qemu_plugin_insn_size(instruction) != 4) return 0;
  const uint8_t *bytes = qemu_plugin_insn_data(instruction);
  return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void Translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
  (void)id;
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i) {
    struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
    const uint64_t address = qemu_plugin_insn_vaddr(instruction);
    const uint32_t code = begin_code == 0 ? 0 : CodeOf(instruction);
    const bool begin = begin_code == 0 ? address == begin_address : code == begin_code;
    const bool end = begin_code == 0 ? address == end_address : code == end_code;
    if (begin || end) {
      qemu_plugin_register_vcpu_insn_exec_cb(instruction, begin ? Begin : End, QEMU_PLUGIN_CB_NO_REGS, NULL);
      continue;
    }
    /* An inline add needs no callback for each instruction, so instructions are always counted; Begin resets them. */
    qemu_plugin_register_vcpu_insn_exec_inline(instruction, QEMU_PLUGIN_INLINE_ADD_U64, &Find(address)->count, 1);
    if (memory) {
      qemu_plugin_register_vcpu_mem_cb(instruction, Accessed, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
    }
  }
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv) {
  (void)info;
  for (int i = 0; i < argc; ++i) {
    if (strncmp(argv[i], "begin=", 6) == 0) begin_address = strtoull(argv[i] + 6, NULL, 0);
    if (strncmp(argv[i], "end=", 4) == 0) end_address = strtoull(argv[i] + 4, NULL, 0);
    if (strncmp(argv[i], "begin-code=", 11) == 0) begin_code = (uint32_t)strtoul(argv[i] + 11, NULL, 0);
    if (strncmp(argv[i], "end-code=", 9) == 0) end_code = (uint32_t)strtoul(argv[i] + 9, NULL, 0);
    if (strncmp(argv[i], "out=", 4) == 0) out = fopen(argv[i] + 4, "w");
    if (strcmp(argv[i], "memory=on") == 0) memory = true;
  }
  if (out == NULL || ((begin_address == 0 || end_address == 0) && (begin_code == 0 || end_code == 0))) {
    fprintf(stderr,
            "count_instructions: out=FILE and two marks (begin=, end= or begin-code=, end-code=) are required\n");
    return -1;
  }
  for (size_t i = 0; i < sizeof caches / sizeof caches[0]; ++i) {
    caches[i].lines = calloc((size_t)caches[i].sets * caches[i].ways, sizeof *caches[i].lines);
    if (caches[i].lines == NULL) abort();
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, Translated);
  return 0;
}

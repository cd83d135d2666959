/* A plugin for QEMU that counts the instructions executed between two addresses, each instruction for itself.
 *
 *   -plugin count_instructions.so,begin=0x…,end=0x…,out=FILE
 *
 * FILE gets, for each pair of passes through `begin` and `end`, a line `region TOTAL` and then a line `ADDRESS COUNT`
 * for every instruction executed in it. An instruction that its condition turned into nothing counts, as it does in
 * time. QEMU's plugin interface (qemu-plugin.h of its version 7.2) is declared here as far as it is used. */
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

#define EXPORT __attribute__((visibility("default")))
extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_tb_trans_cb_t cb);
extern void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_udata_cb_t cb,
                                                   enum qemu_plugin_cb_flags flags, void *userdata);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t idx);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

#ifndef QEMU_PLUGIN_VERSION
#define QEMU_PLUGIN_VERSION 1
#endif
EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

/* Instructions by their address, in a table that doubles when it is half full; the entries themselves never move. */
typedef struct {
  uint64_t address, count;
} Instruction;

static Instruction **table;
static size_t capacity, used;
static uint64_t begin_address, end_address;
static bool counting;
static FILE *out;

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
  counting = true;
}

static void End(unsigned int vcpu, void *unused) {
  (void)vcpu, (void)unused;
  if (!counting) return;
  counting = false;
  Find(begin_address)->count = 0; /* its only instruction: the return */
  uint64_t total = 0;
  for (size_t i = 0; i < capacity; ++i) total += table[i] != NULL ? table[i]->count : 0;
  fprintf(out, "region %" PRIu64 "\n", total);
  for (size_t i = 0; i < capacity; ++i) {
    if (table[i] != NULL && table[i]->count > 0) {
      fprintf(out, "%" PRIx64 " %" PRIu64 "\n", table[i]->address, table[i]->count);
    }
  }
  fflush(out);
}

static void Executed(unsigned int vcpu, void *instruction) {
  (void)vcpu;
  if (counting) ++((Instruction *)instruction)->count;
}

static void Translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
  (void)id;
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i) {
    struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
    const uint64_t address = qemu_plugin_insn_vaddr(instruction);
    qemu_plugin_vcpu_udata_cb_t callback = address == begin_address ? Begin : address == end_address ? End : Executed;
    qemu_plugin_register_vcpu_insn_exec_cb(instruction, callback, QEMU_PLUGIN_CB_NO_REGS, Find(address));
  }
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv) {
  (void)info;
  for (int i = 0; i < argc; ++i) {
    if (strncmp(argv[i], "begin=", 6) == 0) begin_address = strtoull(argv[i] + 6, NULL, 0);
    if (strncmp(argv[i], "end=", 4) == 0) end_address = strtoull(argv[i] + 4, NULL, 0);
    if (strncmp(argv[i], "out=", 4) == 0) out = fopen(argv[i] + 4, "w");
  }
  if (out == NULL || begin_address == 0 || end_address == 0) {
    fprintf(stderr, "count_instructions: begin=ADDRESS, end=ADDRESS and out=FILE are needed\n");
    return -1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, Translated);
  return 0;
}

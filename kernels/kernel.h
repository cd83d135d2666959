/* The contract between a kernel and everything that runs it: the runtime, generated C, and the tests.
 *
 * A kernel is a set of C functions over plain pointers and const structs. It never allocates, never starts a thread,
 * never does I/O and keeps no state. `support`, `prepare`, `pack_size` and `pack` are portable C: every entry of every
 * target is in the host library, so an x86 host packs for a microcontroller; only `run` may be ISA code. */
#ifndef MSLITE_KERNEL_H
#define MSLITE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "op_params.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  MSLITE_MAX_RANK = 8,
  MSLITE_MAX_KNOWN = 64, /* entries of a small integer tensor whose values travel with the shapes */
  MSLITE_MAX_PHASES = 4,
  MSLITE_MAX_OPERANDS = 64
};

typedef enum {
  MSLITE_OK = 0,
  MSLITE_ERROR_SHAPE = 1,       /* the shapes of the inputs do not fit the operator */
  MSLITE_ERROR_ATTRIBUTE = 2,   /* an attribute has an impossible value */
  MSLITE_ERROR_TYPE = 3,        /* an input has a type that the operator does not take */
  MSLITE_ERROR_UNSUPPORTED = 4, /* legal, but not built */
  MSLITE_ERROR_VALUE = 5        /* an input holds an impossible value (found when running) */
} mslite_status;

/* One linear quantization record, as in the file. */
typedef struct {
  double scale;
  int32_t zero_point;
  int32_t source_type; /* the type in the source model: MSLITE_INT8 or MSLITE_UINT8 */
  int32_t rounds_even; /* float values half-way between two integers go to the even one, else away from zero */
} mslite_quant;

/* A dimension, or an entry of `known`, that is this or less stands for an unknown size; equal values are equal sizes.
 */
#define MSLITE_SYMBOL_LIMIT (-((int64_t)1 << 40))

static inline bool mslite_is_symbol(int64_t value) { return value <= MSLITE_SYMBOL_LIMIT; }

/* What is known of a tensor before anything runs. */
typedef struct {
  int32_t type;                    /* mslite_data_type */
  int32_t rank;                    /* -1: nothing is known of the shape */
  int64_t dims[MSLITE_MAX_RANK];   /* >= 0, or a symbol */
  const void *data;                /* the whole contents when they are known (constants), else NULL */
  int32_t known_count;             /* -1, or the number of entries in `known`: the contents of a small integer tensor */
  int64_t known[MSLITE_MAX_KNOWN]; /* each a value or a symbol; filled for constants too */
  int32_t quant_count;             /* 0, 1 (per tensor) or one per channel */
  const mslite_quant *quant;
} mslite_tensor;

/* ---- shape rules: kernels/shape/<family>.c, listed in kernels/shape/rules.inc ---- */

typedef struct {
  int64_t next_symbol; /* the next unused symbol; counts down */
  char message[256];   /* why the rule failed */
} mslite_shape_context;

/* Fills type, rank, dims and, where the contents can be told (Shape, Gather of a shape, ...), `known` of each output.
 * Outputs come in zeroed, with rank 0, known_count -1. Called with any mixture of known and symbolic dimensions. */
typedef mslite_status (*mslite_shape_rule)(mslite_shape_context *context, const void *params,
                                           const mslite_tensor *const *inputs, int32_t input_count,
                                           mslite_tensor *const *outputs, int32_t output_count);

/* The rule of an operator, or NULL. */
mslite_shape_rule mslite_find_shape_rule(int32_t op);

/* ---- kernels: kernels/<family>/, listed in kernels/<family>/kernels.inc ---- */

/* One operator call as the kernel sees it: all dimensions are known (>= 0). */
typedef struct {
  int32_t op; /* mslite_op */
  const void *params;
  int32_t input_count;
  int32_t output_count;
  const mslite_tensor *const *inputs;
  const mslite_tensor *const *outputs;
  int32_t quant_type;
} mslite_node;

/* How a prepared kernel wants to be run. Phases are barriers; parts of a phase may run at the same time, in any order,
 * on any thread, and write disjoint memory. Part counts depend on shapes only, never on the number of threads. */
typedef struct {
  int32_t phase_count;
  int32_t part_count[MSLITE_MAX_PHASES];
  int64_t shared_bytes;  /* workspace that all parts share, kept between phases */
  int64_t scratch_bytes; /* workspace that each running thread has to itself during one part */
} mslite_schedule;

/* An impossible value that a kernel met while running: input `input` holds `value` at `position`, which is not in
 * [low, high). What the kernel writes then is of no use, but it stays inside of its outputs. */
typedef struct {
  int32_t status; /* MSLITE_OK: nothing was met */
  int32_t input;
  int64_t position;
  int64_t value;
  int64_t low, high;
} mslite_failure;

typedef struct {
  const void *derived;       /* what `prepare` wrote */
  const void *const *inputs; /* NULL for an absent optional input; a packed input's packed form */
  void *const *outputs;
  void *shared;
  void *scratch;
  mslite_failure *failure; /* of this part; NULL: nobody wants to know */
} mslite_run;

/* Instruction sets a kernel may be written for. Higher is preferred among equally good kernels. */
typedef enum {
  MSLITE_ISA_SCALAR = 0,
  MSLITE_ISA_AVX2 = 1,   /* AVX2 + FMA + F16C */
  MSLITE_ISA_AVX512 = 2, /* F, BW, DQ, VL */
  MSLITE_ISA_VNNI = 3,   /* AVX-512 with VNNI */
  MSLITE_ISA_NEON = 8,
  MSLITE_ISA_NEON_DOT = 9,
  MSLITE_ISA_NEON_FP16 = 10, /* float16 arithmetic; only where the user allows it */
  MSLITE_ISA_NEON_I8MM = 11, /* products of matrices of 8 bits; its machines have dot products */
  MSLITE_ISA_MICRO = 16,     /* generated C: any 32-bit processor (Cortex-M0+, M3) */
  MSLITE_ISA_DSP = 17,       /* generated C: Armv7E-M and Armv8-M with the DSP extension (Cortex-M4, M7, M33) */
  MSLITE_ISA_MVE = 18        /* generated C: Helium (Cortex-M55, M85) */
} mslite_isa;

typedef struct {
  const char *name; /* unique: "<function>_<isa>", e.g. "conv2d_gemm_f32_avx2" */
  int32_t op;
  int32_t isa;
  int32_t derived_size; /* bytes that `prepare` writes to `derived`: plain integers and floats */

  /* 0: cannot run this node. Otherwise a preference; the highest wins, then the higher ISA, then the earlier entry. */
  int32_t (*support)(const mslite_node *node);

  /* Derives every number that `run` needs, in memory that is 0 before. Never looks at activations. */
  mslite_status (*prepare)(const mslite_node *node, void *derived, mslite_schedule *schedule);

  /* Bytes of the packed form of constant input `input`, 0 when `run` reads it as it is, -1 when it reads it nowhere.
   * NULL: packs nothing. The packed form depends on weights and attributes only, so it survives a change of shapes. */
  int64_t (*pack_size)(const mslite_node *node, int32_t input);
  void (*pack)(const mslite_node *node, int32_t input, const void *source, void *packed);

  void (*run)(const mslite_run *run, int32_t phase, int32_t part);

  /* Which input output 0 may overwrite, or -1. NULL: none. The runtime checks that the input dies here. */
  int32_t (*in_place)(const mslite_node *node);

  /* 1: computes on stored integers by the records of its operands. Such a kernel, and no other, is offered the nodes on
   * quantized values; its `support` is asked before shapes are known, and may look at types, records, attributes,
   * which inputs are absent or constant, and at the contents and sizes of constants. */
  int32_t quantized;

  /* Whether output 0 may lie over input `input` while that dies here, shifted: when parts run one after the other in
   * ascending order, output 0 may begin this many bytes, or more, before input `input` begins. -1: never. NULL: never
   * (but see in_place, which needs the same address). Known after `prepare`. */
  int64_t (*lead)(const mslite_node *node, const void *derived, int32_t input);

  /* Only for operators whose output shape depends on data: the shapes of the outputs (dims[output]), from the inputs.
   * Called after `prepare` (which then sees symbols in its outputs); `prepare` is called again with the new shapes. */
  mslite_status (*count)(const mslite_run *run, int64_t dims[][MSLITE_MAX_RANK]);
} mslite_kernel;

/* The table of all kernels that this library holds, in order of listing. Null pointers stand for those that mslite-crop
 * took out (cropped.h). */
extern const mslite_kernel *const mslite_kernels[];
extern const int32_t mslite_kernel_count;

typedef struct {
  const mslite_kernel *const *kernels;
  int32_t count;
} mslite_kernel_list;

/* The kernels that only training needs: those of its operators, and such for other operators that are worth their bytes
 * in training alone. They are in a library of their own, which who only infers does without. */
extern const mslite_kernel_list mslite_training_kernels;

/* The kernels for generated C on other machines than this one, which the code generator prepares and packs here (their
 * `run` computes here too, instruction by instruction, for tests), and likewise those that only training needs. Not
 * part of the runtime library. */
extern const mslite_kernel_list mslite_target_kernels;
extern const mslite_kernel_list mslite_target_training_kernels;

/* ---- helpers used by shape rules and kernels alike ---- */

/* Bytes of one element, 0 for a type without a fixed size. */
int32_t mslite_type_size(int32_t type);

/* Number of elements, -1 when a dimension is unknown or the product does not fit into 63 bits. */
int64_t mslite_element_count(const mslite_tensor *tensor);

/* Reports that input `input` holds `value` at `position`, outside of [low, high). The first report of a part is kept.
 */
void mslite_report_value(const mslite_run *run, int32_t input, int64_t position, int64_t value, int64_t low,
                         int64_t high);

/* `axis` counted from the front, or -1 when it is out of [-rank, rank). */
int32_t mslite_normalize_axis(int64_t axis, int32_t rank);

#ifdef __cplusplus
}
#endif

#endif

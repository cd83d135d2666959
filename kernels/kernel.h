/* The interface between a kernel and its callers: the runtime, generated C, and the tests.
 *
 * A kernel is a set of C functions on plain pointers and const structs. It does not allocate, start threads or do
 * I/O, and has no state. `support`, `prepare`, `pack_size` and `pack` are portable C: the host library contains them
 * for all targets, so that an x86 host can pack for a microcontroller. Only `run` may contain ISA-specific code. */
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
  MSLITE_MAX_KNOWN = 64, /* limit for small integer tensors whose contents shape inference tracks */
  MSLITE_MAX_PHASES = 4,
  MSLITE_MAX_OPERANDS = 64
};

typedef enum {
  MSLITE_OK = 0,
  MSLITE_ERROR_SHAPE = 1,       /* the operator does not support these input shapes */
  MSLITE_ERROR_ATTRIBUTE = 2,   /* an attribute has an invalid value */
  MSLITE_ERROR_TYPE = 3,        /* the operator does not support the data type of an input */
  MSLITE_ERROR_UNSUPPORTED = 4, /* valid, but not supported */
  MSLITE_ERROR_VALUE = 5        /* an input contains an invalid value (found at run time) */
} mslite_status;

/* One pair of quantization parameters, as in the file. */
typedef struct {
  double scale;
  int32_t zero_point;
  int32_t source_type; /* the type in the source model: MSLITE_INT8 or MSLITE_UINT8 */
  int32_t rounds_even; /* real values halfway between two integers round to the even one; otherwise away from zero */
} mslite_quant;

/* A dimension, or an entry of `known`, that is not above this limit is a symbol for an unknown size. Equal symbols
 * are equal sizes. */
#define MSLITE_SYMBOL_LIMIT (-((int64_t)1 << 40))

static inline bool mslite_is_symbol(int64_t value) { return value <= MSLITE_SYMBOL_LIMIT; }

/* What is known of a tensor before a run. */
typedef struct {
  int32_t type;                    /* mslite_data_type */
  int32_t rank;                    /* -1: the shape is unknown */
  int64_t dims[MSLITE_MAX_RANK];   /* >= 0, or a symbol */
  const void *data;                /* the contents if they are constant, otherwise NULL */
  int32_t known_count;             /* -1, or the number of entries in `known`: the contents of a small integer tensor */
  int64_t known[MSLITE_MAX_KNOWN]; /* each a value or a symbol; also filled for constants */
  int32_t quant_count;             /* 0, 1 (per tensor) or one per channel */
  const mslite_quant *quant;
} mslite_tensor;

/* ---- shape rules: kernels/shape/<family>.c, listed in kernels/shape/rules.inc ---- */

typedef struct {
  int64_t next_symbol; /* the next unused symbol; counts down */
  char message[256];   /* the reason of a failure */
} mslite_shape_context;

/* Fills data type, rank, dims and, if the contents can be inferred (Shape, Gather of a shape, ...), `known` of each
 * output. The outputs are zeroed before, with known_count -1. Dimensions may be known or symbols in any combination. */
typedef mslite_status (*mslite_shape_rule)(mslite_shape_context *context, const void *params,
                                           const mslite_tensor *const *inputs, int32_t input_count,
                                           mslite_tensor *const *outputs, int32_t output_count);

/* Returns the rule of an operator, or NULL. */
mslite_shape_rule mslite_find_shape_rule(int32_t op);

/* ---- kernels: kernels/<family>/, listed in kernels/<family>/kernels.inc ---- */

/* A call of an operator. All dimensions are known (>= 0). */
typedef struct {
  int32_t op; /* mslite_op */
  const void *params;
  int32_t input_count;
  int32_t output_count;
  const mslite_tensor *const *inputs;
  const mslite_tensor *const *outputs;
  int32_t quant_type;
} mslite_node;

/* How to run a prepared kernel. Phases are barriers. The parts of a phase may run at the same time, in any order, on
 * any thread, and write disjoint memory. The number of parts depends only on shapes, not on the number of threads. */
typedef struct {
  int32_t phase_count;
  int32_t part_count[MSLITE_MAX_PHASES];
  int64_t shared_bytes;  /* workspace that all parts share, kept between phases */
  int64_t scratch_bytes; /* workspace that each running thread has for itself during one part */
} mslite_schedule;

/* An invalid value that a kernel found at run time: input `input` has `value` at `position`, which is not in [low,
 * high). The results are invalid then, but all writes stay inside of the outputs. */
typedef struct {
  int32_t status; /* MSLITE_OK: no failure */
  int32_t input;
  int64_t position;
  int64_t value;
  int64_t low, high;
} mslite_failure;

typedef struct {
  const void *derived;       /* filled by `prepare` */
  const void *const *inputs; /* NULL for an absent optional input; the packed form of a packed input */
  void *const *outputs;
  void *shared;
  void *scratch;
  mslite_failure *failure; /* of this part; NULL: not reported */
} mslite_run;

/* The instruction sets that kernels are written for. Of equally good kernels, the higher one is preferred. */
typedef enum {
  MSLITE_ISA_SCALAR = 0,
  MSLITE_ISA_AVX2 = 1,   /* AVX2 + FMA + F16C */
  MSLITE_ISA_AVX512 = 2, /* F, BW, DQ, VL */
  MSLITE_ISA_VNNI = 3,   /* AVX-512 with VNNI */
  MSLITE_ISA_NEON = 8,
  MSLITE_ISA_NEON_DOT = 9,
  MSLITE_ISA_NEON_FP16 = 10, /* float16 arithmetic; only if the user enables it */
  MSLITE_ISA_NEON_I8MM = 11, /* 8-bit matrix multiplication; these machines also have dot products */
  MSLITE_ISA_MICRO = 16,     /* generated C: any 32-bit processor (Cortex-M0+, M3) */
  MSLITE_ISA_DSP = 17,       /* generated C: Armv7E-M and Armv8-M with the DSP extension (Cortex-M4, M7, M33) */
  MSLITE_ISA_MVE = 18        /* generated C: Helium (Cortex-M55, M85) */
} mslite_isa;

typedef struct {
  const char *name; /* unique: "<function>_<isa>", e.g. "conv2d_gemm_f32_avx2" */
  int32_t op;
  int32_t isa;
  int32_t derived_size; /* bytes of `derived`, which `prepare` fills with integers and floats */

  /* Returns 0 if the kernel cannot run this node. Otherwise a score; the highest wins, then the higher ISA, then the
   * earlier table entry. */
  int32_t (*support)(const mslite_node *node);

  /* Computes the parameters that `run` needs. `derived` is zeroed before. Does not read activations. */
  mslite_status (*prepare)(const mslite_node *node, void *derived, mslite_schedule *schedule);

  /* Returns the bytes of the packed form of constant input `input`; 0 if `run` reads it unpacked, -1 if `run` does
   * not read it. NULL: packs nothing. The packed form depends only on weights and attributes, so it stays valid when
   * shapes change. */
  int64_t (*pack_size)(const mslite_node *node, int32_t input);
  void (*pack)(const mslite_node *node, int32_t input, const void *source, void *packed);

  void (*run)(const mslite_run *run, int32_t phase, int32_t part);

  /* Returns the input that output 0 may overwrite, or -1. NULL: none. The runtime checks that no later step reads
   * the input. */
  int32_t (*in_place)(const mslite_node *node);

  /* 1: computes on quantized integers with the quantization parameters of its operands. Nodes on quantized values
   * are offered to such kernels only. `support` is called before shapes are known; it may read data types,
   * quantization parameters, attributes, which inputs are absent or constant, and the contents and sizes of
   * constants. */
  int32_t quantized;

  /* Whether output 0 may overlap input `input`, if no later step reads it. If parts run one after the other in
   * ascending order, output 0 may begin this many bytes, or more, before the input. -1 or NULL: it may not (but see
   * in_place, for the same address). Called after `prepare`. */
  int64_t (*lead)(const mslite_node *node, const void *derived, int32_t input);

  /* Only for operators whose output shapes depend on the contents of inputs: computes the shapes of the outputs
   * (dims[output]). Called after `prepare`, which sees symbols in the outputs; `prepare` is called again with the
   * new shapes. */
  mslite_status (*count)(const mslite_run *run, int64_t dims[][MSLITE_MAX_RANK]);
} mslite_kernel;

/* The table of all kernels in this library. Entries that mslite-crop removed are null pointers (cropped.h). */
extern const mslite_kernel *const mslite_kernels[];
extern const int32_t mslite_kernel_count;

typedef struct {
  const mslite_kernel *const *kernels;
  int32_t count;
} mslite_kernel_list;

/* The kernels that only training needs: those of its operators, and variants for other operators that only pay off
 * in training. They are in a separate library, which inference does not need. */
extern const mslite_kernel_list mslite_training_kernels;

/* The kernels for generated C on other machines, which the code generator prepares and packs on the host (for tests,
 * their `run` works on the host, too, by emulating instructions), and those that only training needs. Not part of
 * the runtime library. */
extern const mslite_kernel_list mslite_target_kernels;
extern const mslite_kernel_list mslite_target_training_kernels;

/* ---- helpers for shape rules and kernels ---- */

/* Returns the bytes of one element; 0 for a type without a fixed size. */
int32_t mslite_type_size(int32_t type);

/* Returns the number of elements; -1 if a dimension is unknown or the product exceeds 63 bits. */
int64_t mslite_element_count(const mslite_tensor *tensor);

/* Reports that input `input` has `value` at `position`, outside of [low, high). The first report of a part is kept. */
void mslite_report_value(const mslite_run *run, int32_t input, int64_t position, int64_t value, int64_t low,
                         int64_t high);

/* Returns `axis` counted from the front, or -1 if it is outside of [-rank, rank). */
int32_t mslite_normalize_axis(int64_t axis, int32_t rank);

#ifdef __cplusplus
}
#endif

#endif

/* Startup code for Arm Cortex-M: vector table, copies .data, clears .bss, enables the floating-point and vector units.
 * A fault ends the program with status 101. */
#include <stdint.h>

#include "board.h"

extern uint32_t board_stack_top[], board_stack_bottom[];
extern uint32_t board_data_start[], board_data_end[], board_data_load[];
extern uint32_t board_bss_start[], board_bss_end[];

int main(void);
void board_reset(void) __attribute__((noreturn));
void board_fault(const uint32_t *frame) __attribute__((noreturn, used));

static void EnableUnits(void) {
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  volatile uint32_t *const access_control = (volatile uint32_t *)0xE000ED88u;
  *access_control |= 0xFu << 20; /* coprocessors 10 and 11 */
  __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
#if defined(__ARM_FEATURE_MVE)
  volatile uint32_t *const configuration = (volatile uint32_t *)0xE000ED14u;
  *configuration |= 1u << 19; /* loop and branch information cache */
#endif
}

void board_reset(void) {
  EnableUnits();
  const uint32_t *from = board_data_load;
  for (uint32_t *to = board_data_start; to != board_data_end; ++to) *to = *from++;
  for (uint32_t *to = board_bss_start; to != board_bss_end; ++to) *to = 0;
  board_exit(main());
}

void board_fault(const uint32_t *frame) {
  board_printf("fault at 0x%x, called from 0x%x\n", (unsigned)frame[6], (unsigned)frame[5]);
  board_exit(101);
}

static __attribute__((naked)) void Fault(void) { __asm__ volatile("mov r0, sp\n\tldr r1, =board_fault\n\tbx r1"); }

typedef struct {
  uint32_t *stack;
  void (*handlers[15])(void);
} VectorTable;

static const VectorTable vectors __attribute__((section(".vectors"), used)) = {
    board_stack_top, {board_reset, Fault, Fault, Fault, Fault, Fault, Fault, 0, 0, 0, Fault, Fault, 0, Fault, Fault}};

/* Not inlined: the counting plugin uses the addresses of these functions as marks. */
__attribute__((naked, noinline)) void board_count_begin(void) { __asm__ volatile("bx lr"); }
__attribute__((naked, noinline)) void board_count_end(void) { __asm__ volatile("bx lr"); }

#define STACK_PATTERN 0xA5A5A5A5u

void board_stack_mark(void) {
  uint32_t *end = (uint32_t *)__builtin_frame_address(0) - 16;
  for (uint32_t *word = board_stack_bottom; word < end; ++word) *(volatile uint32_t *)word = STACK_PATTERN;
}

size_t board_stack_used(void) {
  const uint32_t *word = board_stack_bottom;
  while (word < board_stack_top && *(const volatile uint32_t *)word == STACK_PATTERN) ++word;
  return (size_t)((uintptr_t)__builtin_frame_address(0) - (uintptr_t)word);
}

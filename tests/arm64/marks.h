// The two instructions that the counting plugin (codegen/boards/count_instructions.c) looks for: hints that no
// processor knows, and so does nothing for.
#ifndef MSLITE_INSTRUCTIONS_MARKS_H
#define MSLITE_INSTRUCTIONS_MARKS_H

#if defined(__thumb__)
#define MSLITE_MARK_BEGIN() __asm__ volatile(".inst.w 0xf3af806e" ::: "memory")
#define MSLITE_MARK_END() __asm__ volatile(".inst.w 0xf3af806f" ::: "memory")
#elif defined(__arm__)
#define MSLITE_MARK_BEGIN() __asm__ volatile(".inst 0xe320f06e" ::: "memory")
#define MSLITE_MARK_END() __asm__ volatile(".inst 0xe320f06f" ::: "memory")
#else
#define MSLITE_MARK_BEGIN() __asm__ volatile("hint #110" ::: "memory")
#define MSLITE_MARK_END() __asm__ volatile("hint #111" ::: "memory")
#endif

#endif

// The two instructions that the counting plugin (codegen/boards/count_instructions.c) looks for: hints that no
// processor knows, and so does nothing for.
#ifndef MSLITE_INSTRUCTIONS_MARKS_H
#define MSLITE_INSTRUCTIONS_MARKS_H

#define MSLITE_MARK_BEGIN() __asm__ volatile("hint #110" ::: "memory")
#define MSLITE_MARK_END() __asm__ volatile("hint #111" ::: "memory")

#endif

/* Trains a generated project on a microcontroller, one image per step, and prints the number of correctly classified
 * test images before and after. */
#include <stdint.h>

#include "board.h"
#include "training.h"

enum { PIXELS = 32 * 32, CLASSES = 10, TRAIN = 600, TEST = 300, REPORT = 100 };
#ifndef STEPS
#define STEPS 1200
#endif

/* Embeds the files of prepare.py in flash. A real device would read images from a sensor. */
#define IN_FLASH(name)                                                             \
  extern const uint8_t name[];                                                     \
  __asm__(".section .rodata\n" #name ": .incbin \"" #name ".bin\"\n.global " #name \
          "\n"                                                                     \
          ".previous\n");
IN_FLASH(train_images)
IN_FLASH(train_labels)
IN_FLASH(test_images)
IN_FLASH(test_labels)

static unsigned char arena[TRAINING_ARENA_SIZE] __attribute__((aligned(TRAINING_ARENA_ALIGNMENT)));
static float image[PIXELS], probabilities[CLASSES], loss;
static int32_t label;

static const void *const inputs[TRAINING_INPUT_COUNT] = {image, &label};
static void *const outputs[TRAINING_OUTPUT_COUNT] = {&loss, probabilities};

static void Show(const uint8_t *images, const uint8_t *labels, int number) {
  for (int i = 0; i < PIXELS; ++i) image[i] = (float)images[number * PIXELS + i] / 255.0f;
  label = labels[number];
}

/* Returns the number of correctly classified test images; -1 if inference fails. */
static int CountKnown(void) {
  int known = 0;
  for (int number = 0; number < TEST; ++number) {
    Show(test_images, test_labels, number);
    if (training_infer(inputs, outputs, arena) != 0) return -1;
    int best = 0;
    for (int i = 1; i < CLASSES; ++i) {
      if (probabilities[i] > probabilities[best]) best = i;
    }
    known += best == label;
  }
  return known;
}

int main(void) {
  uint32_t chance = 1;
  float sum = 0.0f;
  board_stack_mark();
  training_reset(arena);
  board_printf("arena %d bytes, including %d bytes of trained weights and optimizer state\n", TRAINING_ARENA_SIZE,
               TRAINING_STATE_SIZE);
  board_printf("before: %d of %d correct\n", CountKnown(), TEST);
  for (int step = 1; step <= STEPS; ++step) {
    chance = chance * 1664525u + 1013904223u;
    Show(train_images, train_labels, (int)((chance >> 8) % TRAIN));
    board_count_begin();
    if (training_step(inputs, outputs, arena) != 0) return 1;
    board_count_end();
    sum += loss;
    if (step % REPORT == 0) {
      board_printf("step %d: loss %d / 1000\n", step, (int)(1000.0f * sum / REPORT));
      sum = 0.0f;
    }
  }
  const int known = CountKnown();
  board_printf("after: %d of %d correct\n", known, TEST);
  board_printf("stack %d bytes\n", (int)board_stack_used());
  return known < 0;
}

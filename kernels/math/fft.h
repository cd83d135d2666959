/* Discrete Fourier transforms of any length in double precision, with the project's own sine and cosine: the same bits
 * with every compiler. Lengths that are powers of two take the Cooley-Tukey butterflies, others Bluestein's chirp. */
#ifndef MSLITE_FFT_H
#define MSLITE_FFT_H

#include <stdint.h>

/* Doubles of the tables for length n, and of the workspace of one transform. */
int64_t mslite_fft_table_size(int64_t n);
int64_t mslite_fft_space_size(int64_t n);

/* Fills the tables of length n. */
void mslite_fft_make_tables(int64_t n, double *tables);

/* Replaces n complex numbers (real and imaginary part side by side) by sum(data[j] exp(-2 pi i j k / n)). */
void mslite_fft_forward(int64_t n, const double *tables, double *data, double *space);

#endif

/* Discrete Fourier transforms of any length in double precision, with the project's own sine and cosine, so that all
 * compilers give the same bits. Powers of two use the Cooley-Tukey algorithm, other lengths Bluestein's. */
#ifndef MSLITE_FFT_H
#define MSLITE_FFT_H

#include <stdint.h>

/* Return the doubles of the tables for length n, and of the workspace of one transform. */
int64_t mslite_fft_table_size(int64_t n);
int64_t mslite_fft_space_size(int64_t n);

/* Fills the tables of length n. */
void mslite_fft_make_tables(int64_t n, double *tables);

/* Replaces n complex numbers (interleaved) by sum(data[j] exp(-2 pi i j k / n)). */
void mslite_fft_forward(int64_t n, const double *tables, double *data, double *space);

#endif

/* Elementary functions in double precision that use only additions, multiplications, divisions and exact operations,
 * so that they give the same bits with every compiler and library. The error is below 4 ulp (erf: 12 ulp; pow, and
 * sinh and cosh beyond 700: relative 1e-13). Rounded to float32, results are accurate to 0.51 ulp. */
#ifndef MSLITE_SCALAR_MATH_H
#define MSLITE_SCALAR_MATH_H

/* kernels/math/exponential.c */
double mslite_exp(double x);
double mslite_expm1(double x);
double mslite_log(double x);
double mslite_log1p(double x);
double mslite_pow(double x, double y);
double mslite_sinh(double x);
double mslite_cosh(double x);
double mslite_tanh(double x);
double mslite_asinh(double x);
double mslite_acosh(double x);
double mslite_atanh(double x);
double mslite_erf(double x);

/* kernels/math/trigonometric.c; angles in radians */
double mslite_sin(double x);
double mslite_cos(double x);
double mslite_tan(double x);
double mslite_asin(double x);
double mslite_acos(double x);
double mslite_atan(double x);
double mslite_atan2(double y, double x);

#endif

#include "elements.h"

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

/* Numbers that look random. */
static uint64_t bits(int rank, int i) {
  uint64_t x = (uint64_t)rank * 1000003u + (uint64_t)i + 1;
  x *= 0x9E3779B97F4A7C15u;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9u;
  return x ^ x >> 32;
}

/* -4, -3, ... 4: products over some ranks are exact in any type. */
static int small(int rank, int i) { return (int)(bits(rank, i) % 9) - 4; }

#define KIND(name, T) const struct kind name = {sizeof(T), name##_make, name##_reduce, name##_equal}

#define EQUAL(name, T)                                           \
  static int name##_equal(int n, const void* a, const void* b) { \
    const T *x = a, *y = b;                                      \
    for (int i = 0; i < n; ++i) {                                \
      if (x[i] != y[i]) return 0;                                \
    }                                                            \
    return 1;                                                    \
  }

/* U is wide enough and unsigned: sums and products are taken in it, and wrap. Every third element is 0, for the logical
   operations. */
#define INTEGER(name, T, U)                                                           \
  static void name##_make(int rank, int n, void* elements) {                          \
    T* x = elements;                                                                  \
    for (int i = 0; i < n; ++i) x[i] = bits(rank, i) % 3 == 0 ? 0 : (T)bits(rank, i); \
  }                                                                                   \
  static void name##_reduce(enum operation op, int n, const void* in, void* inout) {  \
    const T* x = in;                                                                  \
    T* y = inout;                                                                     \
    for (int i = 0; i < n; ++i) {                                                     \
      switch (op) {                                                                   \
        case MAX: y[i] = x[i] > y[i] ? x[i] : y[i]; break;                            \
        case MIN: y[i] = x[i] < y[i] ? x[i] : y[i]; break;                            \
        case SUM: y[i] = (T)((U)x[i] + (U)y[i]); break;                               \
        case PROD: y[i] = (T)((U)x[i] * (U)y[i]); break;                              \
        case BAND: y[i] = (T)(x[i] & y[i]); break;                                    \
        case BOR: y[i] = (T)(x[i] | y[i]); break;                                     \
        case BXOR: y[i] = (T)(x[i] ^ y[i]); break;                                    \
        case LAND: y[i] = x[i] && y[i]; break;                                        \
        case LOR: y[i] = x[i] || y[i]; break;                                         \
        case LXOR: y[i] = !x[i] != !y[i]; break;                                      \
        default: break;                                                               \
      }                                                                               \
    }                                                                                 \
  }                                                                                   \
  EQUAL(name, T)                                                                      \
  KIND(name, T)

INTEGER(i8, int8_t, uint32_t);
INTEGER(i16, int16_t, uint32_t);
INTEGER(i32, int32_t, uint32_t);
INTEGER(i64, int64_t, uint64_t);
INTEGER(u8, uint8_t, uint32_t);
INTEGER(u16, uint16_t, uint32_t);
INTEGER(u32, uint32_t, uint32_t);
INTEGER(u64, uint64_t, uint64_t);

#define FLOATING(name, T)                                                            \
  static void name##_make(int rank, int n, void* elements) {                         \
    T* x = elements;                                                                 \
    for (int i = 0; i < n; ++i) x[i] = (T)small(rank, i) / 2;                        \
  }                                                                                  \
  static void name##_reduce(enum operation op, int n, const void* in, void* inout) { \
    const T* x = in;                                                                 \
    T* y = inout;                                                                    \
    for (int i = 0; i < n; ++i) {                                                    \
      switch (op) {                                                                  \
        case MAX: y[i] = x[i] > y[i] ? x[i] : y[i]; break;                           \
        case MIN: y[i] = x[i] < y[i] ? x[i] : y[i]; break;                           \
        case SUM: y[i] = x[i] + y[i]; break;                                         \
        case PROD: y[i] = x[i] * y[i]; break;                                        \
        default: break;                                                              \
      }                                                                              \
    }                                                                                \
  }                                                                                  \
  EQUAL(name, T)                                                                     \
  KIND(name, T)

FLOATING(f32, float);
FLOATING(f64, double);
FLOATING(f80, long double);

#define COMPLEX_KIND(name, T, R)                                                     \
  static void name##_make(int rank, int n, void* elements) {                         \
    R* x = elements;                                                                 \
    for (int i = 0; i < 2 * n; ++i) x[i] = (R)small(rank, i) / 2;                    \
  }                                                                                  \
  static void name##_reduce(enum operation op, int n, const void* in, void* inout) { \
    const T* x = in;                                                                 \
    T* y = inout;                                                                    \
    for (int i = 0; i < n; ++i) y[i] = op == SUM ? x[i] + y[i] : x[i] * y[i];        \
  }                                                                                  \
  EQUAL(name, T)                                                                     \
  KIND(name, T)

COMPLEX_KIND(c64, float complex, float);
COMPLEX_KIND(c128, double complex, double);

static void boolean_make(int rank, int n, void* elements) {
  bool* x = elements;
  for (int i = 0; i < n; ++i) x[i] = bits(rank, i) % 3 == 0;
}
static void boolean_reduce(enum operation op, int n, const void* in, void* inout) { u8_reduce(op, n, in, inout); }
static int boolean_equal(int n, const void* a, const void* b) { return u8_equal(n, a, b); }
KIND(boolean, bool);

/* Values repeat, so that ranks are often equal and the index decides. */
#define PAIR(name, V, I)                                                                   \
  typedef struct {                                                                         \
    V value;                                                                               \
    I index;                                                                               \
  } name##_t;                                                                              \
  static void name##_make(int rank, int n, void* elements) {                               \
    name##_t* x = elements;                                                                \
    for (int i = 0; i < n; ++i) {                                                          \
      x[i].value = (V)small(rank, i);                                                      \
      x[i].index = (I)(bits(rank, i) >> 8 & 1023);                                         \
    }                                                                                      \
  }                                                                                        \
  static void name##_reduce(enum operation op, int n, const void* in, void* inout) {       \
    const name##_t* x = in;                                                                \
    name##_t* y = inout;                                                                   \
    for (int i = 0; i < n; ++i) {                                                          \
      const int better = op == MAXLOC ? x[i].value > y[i].value : x[i].value < y[i].value; \
      if (better || (x[i].value == y[i].value && x[i].index < y[i].index)) y[i] = x[i];    \
    }                                                                                      \
  }                                                                                        \
  static int name##_equal(int n, const void* a, const void* b) {                           \
    const name##_t *x = a, *y = b;                                                         \
    for (int i = 0; i < n; ++i) {                                                          \
      if (x[i].value != y[i].value || x[i].index != y[i].index) return 0;                  \
    }                                                                                      \
    return 1;                                                                              \
  }                                                                                        \
  KIND(name, name##_t)

PAIR(f32_int, float, int);
PAIR(f64_int, double, int);
PAIR(long_int, long, int);
PAIR(i32_int, int, int);
PAIR(i16_int, short, int);
PAIR(f80_int, long double, int);
PAIR(f32_f32, float, float);
PAIR(f64_f64, double, double);

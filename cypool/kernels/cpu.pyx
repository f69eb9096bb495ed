"""What this build was made with, and which CPU levels this machine can run; any build can be asked about all of them."""

cdef extern from *:
    """
    #if defined(__x86_64__) && defined(__clang__)
      #include <cpuid.h>
      /* clang names features but, before version 18, no levels; these are what tells levels apart, and the three that it has no name for */
      static int cypool_level(void) {
        unsigned a, b, c, d;
        __builtin_cpu_init();
        if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 1;
        if (!__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2")) return 1;
        if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1u << 22)) || !(c & (1u << 29))) return 1; /* MOVBE, F16C */
        if (!__get_cpuid(0x80000001u, &a, &b, &c, &d) || !(c & (1u << 5))) return 1; /* LZCNT */
        if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512cd")) return 3;
        if (!__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl")) return 3;
        return 4;
      }
    #elif defined(__x86_64__) && defined(__GNUC__)
      /* gcc's own probe: asks CPUID for the features of a level and XGETBV whether the system saves their registers */
      static int cypool_level(void) {
        __builtin_cpu_init();
        if (__builtin_cpu_supports("x86-64-v4")) return 4;
        if (__builtin_cpu_supports("x86-64-v3")) return 3;
        return 1;
      }
    #else
      static int cypool_level(void) { return 0; }
    #endif
    #ifdef _OPENMP
      #define CYPOOL_OPENMP _OPENMP
    #else
      #define CYPOOL_OPENMP 0
    #endif
    #ifdef CYPOOL_CHECKED
      #define CYPOOL_IS_CHECKED 1
    #else
      #define CYPOOL_IS_CHECKED 0
    #endif
    #ifdef __VERSION__
      #define CYPOOL_COMPILER __VERSION__
    #else
      #define CYPOOL_COMPILER "unknown"
    #endif
    """
    int cypool_level() nogil
    int CYPOOL_OPENMP
    bint CYPOOL_IS_CHECKED
    const char* CYPOOL_COMPILER


def x86_64_level():
    """The highest x86-64 level (1, 3 or 4) that processor and system can run; 0 on other machines."""
    return cypool_level()


def openmp():
    """The date of the OpenMP specification this build follows, 0 where it has none."""
    return CYPOOL_OPENMP


def compiler():
    """The compiler's version text."""
    return CYPOOL_COMPILER.decode()


def checked():
    """Whether this is a build with CYPOOL_DEBUG=1: bounds are checked, undefined behaviour traps."""
    return CYPOOL_IS_CHECKED

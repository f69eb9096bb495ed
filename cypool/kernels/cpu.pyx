"""What this build was made with, and which CPU levels this machine can run; any build can be asked about all of them."""

cdef extern from *:
    """
    #if defined(__x86_64__) && defined(__GNUC__)
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

/* The facts of ONNX Runtime's C interface that the plug-in relies on, declared here so that no header of ONNX Runtime is needed.
 *
 * A table that ONNX Runtime hands out is an array of function pointers that only ever grows: a function is a position in it.
 * A structure that the plug-in hands in is a 32-bit version and, from offset 8 on, such an array; ONNX Runtime reads no position that
 * came after the version that is stated there. Both hold on 64-bit machines, which have one calling convention each.
 *
 * FUNCTIONS lists every position used: name, position, the API version (the N of ONNX Runtime 1.N) that introduced it, parameters,
 * arguments. A function that fails returns a status, which belongs to its receiver; NULL is success.
 */
#ifndef CYPOOL_ORT_ABI_H
#define CYPOOL_ORT_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef void (*ort_function)(void);
typedef const ort_function *ort_table;
typedef struct ort_status ort_status;
typedef ort_status *(*ort_create_kernel)(void *state, const void *info, void **kernel);

enum { ORT_LEVEL = 24 }; /* the API version that is asked for and stated */

/* --- what ONNX Runtime hands out -------------------------------------------------------------------------------------------------- */

static ort_table ort_api, ort_ep_api;

enum { ORT_BASE_GET_API = 0, ORT_BASE_GET_VERSION = 1 };

/* functions of OrtApi that return a status */
#define ORT_API_FUNCTIONS(F) \
    F(GetTensorMutableData, 51, 1, (void *value, void **data), (value, data)) \
    F(KernelInfoGetAttribute_float, 85, 1, (const void *info, const char *name, float *out), (info, name, out)) \
    F(KernelInfoGetAttribute_int64, 86, 1, (const void *info, const char *name, int64_t *out), (info, name, out)) \
    F(KernelInfoGetAttribute_string, 87, 1, (const void *info, const char *name, char *out, size_t *size), (info, name, out, size)) \
    F(KernelContext_GetInputCount, 88, 1, (const void *context, size_t *out), (context, out)) \
    F(KernelContext_GetOutputCount, 89, 1, (const void *context, size_t *out), (context, out)) \
    F(KernelContext_GetInput, 90, 1, (const void *context, size_t index, const void **value), (context, index, value)) \
    F(KernelContext_GetOutput, 91, 1, (void *context, size_t index, const int64_t *sizes, size_t rank, void **value), \
      (context, index, sizes, rank, value)) \
    F(KernelInfoGetAttributeArray_float, 162, 8, (const void *info, const char *name, float *out, size_t *count), (info, name, out, count)) \
    F(KernelInfoGetAttributeArray_int64, 163, 8, (const void *info, const char *name, int64_t *out, size_t *count), (info, name, out, count)) \
    F(Graph_GetNumNodes, 344, 23, (const void *graph, size_t *count), (graph, count)) \
    F(Graph_GetNodes, 345, 23, (const void *graph, const void **nodes, size_t count), (graph, nodes, count)) \
    F(Node_GetOperatorType, 350, 23, (const void *node, const char **name), (node, name)) \
    F(GetSessionOptionsConfigEntries, 379, 23, (const void *options, void **pairs), (options, pairs)) \
    F(GetTensorElementTypeAndShapeDataReference, 414, 24, (const void *value, int *type, const int64_t **sizes, size_t *rank), \
      (value, type, sizes, rank))

/* functions of OrtEpApi that return a status */
#define ORT_EP_API_FUNCTIONS(F) \
    F(CreateEpDevice, 0, 22, (void *factory, const void *device, const void *metadata, const void *options, void **out), \
      (factory, device, metadata, options, out)) \
    F(EpGraphSupportInfo_AddSingleNode, 3, 23, (void *support, const void *node), (support, node)) \
    F(CreateKernelRegistry, 18, 24, (void **registry), (registry)) \
    F(KernelRegistry_AddKernel, 20, 24, (void *registry, const void *definition, ort_create_kernel create, void *state), \
      (registry, definition, create, state)) \
    F(CreateKernelDefBuilder, 21, 24, (void **builder), (builder)) \
    F(KernelDefBuilder_SetOperatorType, 23, 24, (void *builder, const char *name), (builder, name)) \
    F(KernelDefBuilder_SetDomain, 24, 24, (void *builder, const char *domain), (builder, domain)) \
    F(KernelDefBuilder_SetSinceVersion, 25, 24, (void *builder, int first, int last), (builder, first, last)) \
    F(KernelDefBuilder_SetExecutionProvider, 26, 24, (void *builder, const char *name), (builder, name)) \
    F(KernelDefBuilder_AddTypeConstraint, 29, 24, (void *builder, const char *name, const void *const *types, size_t count), \
      (builder, name, types, count)) \
    F(KernelDefBuilder_Build, 32, 24, (void *builder, void **definition), (builder, definition)) \
    F(GetTensorDataType, 40, 24, (int element, const void **type), (element, type)) \
    F(EpGraphSupportInfo_LookUpKernel, 41, 24, (void *support, const void *node, const void **definition), (support, node, definition))

/* functions that return nothing, with the table each stands in */
#define ORT_RELEASES(F) \
    F(ReleaseStatus, ort_api, 93, 1, ort_status *) \
    F(ReleaseKeyValuePairs, ort_api, 300, 22, void *) \
    F(ReleaseKernelRegistry, ort_ep_api, 19, 24, void *) \
    F(ReleaseKernelDefBuilder, ort_ep_api, 22, 24, void *) \
    F(ReleaseKernelDef, ort_ep_api, 33, 24, void *)

#define ORT_DEFINE(name, position, since, parameters, arguments) \
    static inline ort_status *ort_##name parameters { return ((ort_status * (*)parameters) ORT_TABLE[position]) arguments; }
#define ORT_DEFINE_RELEASE(name, table, position, since, type) \
    static inline void ort_##name(type released) { ((void (*)(type))table[position])(released); }

#define ORT_TABLE ort_api
ORT_API_FUNCTIONS(ORT_DEFINE)
#undef ORT_TABLE
#define ORT_TABLE ort_ep_api
ORT_EP_API_FUNCTIONS(ORT_DEFINE)
#undef ORT_TABLE
ORT_RELEASES(ORT_DEFINE_RELEASE)

/* the functions that return something else */
static inline ort_status *ort_CreateStatus(int code, const char *text)
{
    return ((ort_status * (*)(int, const char *)) ort_api[0])(code, text);
}
static inline int ort_GetErrorCode(const ort_status *status) { return ((int (*)(const ort_status *))ort_api[1])(status); }
static inline const char *ort_GetErrorMessage(const ort_status *status)
{
    return ((const char *(*)(const ort_status *))ort_api[2])(status);
}
static inline int ort_HardwareDevice_Type(const void *device) { return ((int (*)(const void *))ort_api[307])(device); }
static inline void ort_GetKeyValuePairs(const void *pairs, const char *const **keys, const char *const **values, size_t *count)
{
    ((void (*)(const void *, const char *const **, const char *const **, size_t *))ort_api[298])(pairs, keys, values, count);
}
static inline ort_table ort_GetEpApi(void) { return ((ort_table(*)(void))ort_api[317])(); }

/* Find the tables; false where this ONNX Runtime has none of the level. Asking for a level that is too high would print a line. */
static inline bool ort_connect(ort_table base)
{
    const char *version = ((const char *(*)(void))base[ORT_BASE_GET_VERSION])();
    const char *dot = strchr(version, '.');
    if (!dot || (atoi(version) < 2 && atoi(dot + 1) < ORT_LEVEL)) return false;
    ort_api = ((ort_table(*)(uint32_t))base[ORT_BASE_GET_API])(ORT_LEVEL);
    ort_ep_api = ort_api ? ort_GetEpApi() : NULL;
    return ort_ep_api != NULL;
}

/* --- what the plug-in hands in ---------------------------------------------------------------------------------------------------- */

enum { ORT_SLOTS = 64 }; /* more than any version of any of the structures has */

typedef struct {
    uint32_t version, flags;
    ort_function slots[ORT_SLOTS];
} ort_structure;

enum {
    FACTORY_GET_NAME = 0, FACTORY_GET_VENDOR = 1, FACTORY_GET_SUPPORTED_DEVICES = 2, FACTORY_CREATE_EP = 3, FACTORY_RELEASE_EP = 4,
    FACTORY_GET_VENDOR_ID = 5, FACTORY_GET_VERSION = 6, FACTORY_CREATE_ALLOCATOR = 8, FACTORY_RELEASE_ALLOCATOR = 9,
    FACTORY_CREATE_DATA_TRANSFER = 10, FACTORY_IS_STREAM_AWARE = 11, FACTORY_CREATE_SYNC_STREAM = 12,
    FACTORY_SLOTS = 17 /* the positions that the level has */
};
enum { EP_GET_NAME = 0, EP_GET_CAPABILITY = 1, EP_GET_KERNEL_REGISTRY = 12, EP_IS_CONCURRENT_RUN_SUPPORTED = 13, EP_SLOTS = 14 };
enum { KERNEL_COMPUTE = 0, KERNEL_RELEASE = 1, KERNEL_SLOTS = 4 };

/* What stands in positions that came after the stated version: they are never read, which tests prove with `abort`. */
static ort_function ort_later_slot = NULL;

static inline void ort_initialize(ort_structure *structure, int slots)
{
    memset(structure, 0, sizeof *structure);
    structure->version = ORT_LEVEL;
    for (int slot = slots; slot < ORT_SLOTS; slot++) structure->slots[slot] = ort_later_slot;
}

enum { ORT_FAIL = 1, ORT_INVALID_ARGUMENT = 2 };
enum { ORT_DEVICE_CPU = 0 };

/* --- the positions as a table, for tests ------------------------------------------------------------------------------------------ */

typedef struct {
    const char *name, *table;
    int position, since;
} ort_position;

#define ORT_ROW(name, position, since, parameters, arguments) {#name, ORT_TABLE, position, since},
#define ORT_RELEASE_ROW(name, table, position, since, type) {#name, #table, position, since},

static const ort_position ort_positions[] = {
#define ORT_TABLE "ort_api"
    ORT_API_FUNCTIONS(ORT_ROW)
    {"CreateStatus", ORT_TABLE, 0, 1}, {"GetErrorCode", ORT_TABLE, 1, 1}, {"GetErrorMessage", ORT_TABLE, 2, 1},
    {"GetKeyValuePairs", ORT_TABLE, 298, 22}, {"HardwareDevice_Type", ORT_TABLE, 307, 22}, {"GetEpApi", ORT_TABLE, 317, 22},
#undef ORT_TABLE
#define ORT_TABLE "ort_ep_api"
    ORT_EP_API_FUNCTIONS(ORT_ROW)
#undef ORT_TABLE
    ORT_RELEASES(ORT_RELEASE_ROW)
};
enum { ORT_POSITIONS = sizeof ort_positions / sizeof *ort_positions };

#endif

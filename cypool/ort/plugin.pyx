"""The execution provider: a Python extension module that is also the library which ONNX Runtime loads as a plug-in.

Both in one module, since a kernel that ONNX Runtime calls is a call of cypool on ONNX Runtime's own memory. ``rows`` has what ONNX Runtime
is told, abi.h how. Every function that ONNX Runtime calls gives a status; inside, errors are exceptions.
"""

cimport numpy as np
from cpython.exc cimport PyErr_SetInterrupt
from cpython.ref cimport Py_DECREF, Py_INCREF, PyObject, PyTypeObject
from libc.stdint cimport int64_t, uint32_t
from libc.stdlib cimport abort, free, malloc

import numpy

import cypool
from cypool import ops, plan
from cypool.calls cimport Calls, Prepared, start
from cypool.errors import SpecError, SpecValueError
from cypool.ort import settings
from cypool.ort.bfloat import BFLOAT16
from cypool.ort.rows import rows
from cypool.spec.elements import ELEMENTS

np.import_array()

cdef extern from "Python.h" nogil:
    int Py_IsInitialized()

cdef extern from "<stdbool.h>":
    ctypedef bint bint_byte "bool"

cdef extern from "numpy/arrayobject.h":
    ctypedef struct PyArray_Descr:
        pass
    PyTypeObject PyArray_Type
    object PyArray_NewFromDescr(
        PyTypeObject* subtype,
        PyArray_Descr* dtype,  # taken over
        int rank,
        const np.npy_intp* sizes,
        const np.npy_intp* strides,
        void* data,
        int flags,
        PyObject* base,
    )

cdef extern from "abi.h" nogil:
    ctypedef void (*ort_function)()
    ctypedef const ort_function* ort_table
    ctypedef struct ort_status:
        pass
    ctypedef struct ort_structure:
        ort_function slots[64]
    ctypedef struct ort_position:
        const char* name
        const char* table
        int position
        int since
    ctypedef ort_status* (*ort_create_kernel)(void* state, const void* info, void** kernel) noexcept

    enum:
        ORT_LEVEL
        ORT_FAIL
        ORT_INVALID_ARGUMENT
        ORT_DEVICE_CPU
        ORT_POSITIONS
        FACTORY_GET_NAME
        FACTORY_GET_VENDOR
        FACTORY_GET_SUPPORTED_DEVICES
        FACTORY_CREATE_EP
        FACTORY_RELEASE_EP
        FACTORY_GET_VENDOR_ID
        FACTORY_GET_VERSION
        FACTORY_CREATE_ALLOCATOR
        FACTORY_RELEASE_ALLOCATOR
        FACTORY_CREATE_DATA_TRANSFER
        FACTORY_IS_STREAM_AWARE
        FACTORY_CREATE_SYNC_STREAM
        FACTORY_SLOTS
        EP_GET_NAME
        EP_GET_CAPABILITY
        EP_GET_KERNEL_REGISTRY
        EP_IS_CONCURRENT_RUN_SUPPORTED
        EP_SLOTS
        KERNEL_COMPUTE
        KERNEL_RELEASE
        KERNEL_SLOTS

    const ort_position ort_positions[]
    ort_function ort_later_slot
    bint ort_connect(ort_table base)
    void ort_initialize(ort_structure* structure, int slots)

    ort_status* ort_CreateStatus(int code, const char* text)
    int ort_GetErrorCode(const ort_status* status)
    const char* ort_GetErrorMessage(const ort_status* status)
    void ort_ReleaseStatus(ort_status* status)
    int ort_HardwareDevice_Type(const void* device)

    ort_status* ort_GetTensorMutableData(void* value, void** data)
    ort_status* ort_GetTensorElementTypeAndShapeDataReference(const void* value, int* type, const int64_t** sizes, size_t* rank)
    ort_status* ort_KernelInfoGetAttribute_float(const void* info, const char* name, float* out)
    ort_status* ort_KernelInfoGetAttribute_int64(const void* info, const char* name, int64_t* out)
    ort_status* ort_KernelInfoGetAttribute_string(const void* info, const char* name, char* out, size_t* size)
    ort_status* ort_KernelInfoGetAttributeArray_float(const void* info, const char* name, float* out, size_t* count)
    ort_status* ort_KernelInfoGetAttributeArray_int64(const void* info, const char* name, int64_t* out, size_t* count)
    ort_status* ort_KernelContext_GetInputCount(const void* context, size_t* out)
    ort_status* ort_KernelContext_GetOutputCount(const void* context, size_t* out)
    ort_status* ort_KernelContext_GetInput(const void* context, size_t index, const void** value)
    ort_status* ort_KernelContext_GetOutput(void* context, size_t index, const int64_t* sizes, size_t rank, void** value)
    ort_status* ort_GetSessionOptionsConfigEntries(const void* options, void** pairs)
    void ort_GetKeyValuePairs(const void* pairs, const char*const** keys, const char*const** values, size_t* count)
    void ort_ReleaseKeyValuePairs(void* pairs)
    ort_status* ort_Graph_GetNumNodes(const void* graph, size_t* count)
    ort_status* ort_Graph_GetNodes(const void* graph, const void** nodes, size_t count)
    ort_status* ort_Node_GetOperatorType(const void* node, const char** name)

    ort_status* ort_CreateEpDevice(void* factory, const void* device, const void* metadata, const void* options, void** out)
    ort_status* ort_EpGraphSupportInfo_AddSingleNode(void* support, const void* node)
    ort_status* ort_EpGraphSupportInfo_LookUpKernel(void* support, const void* node, const void** definition)
    ort_status* ort_CreateKernelRegistry(void** registry)
    void ort_ReleaseKernelRegistry(void* registry)
    ort_status* ort_KernelRegistry_AddKernel(void* registry, const void* definition, ort_create_kernel create, void* state)
    ort_status* ort_CreateKernelDefBuilder(void** builder)
    void ort_ReleaseKernelDefBuilder(void* builder)
    ort_status* ort_KernelDefBuilder_SetOperatorType(void* builder, const char* name)
    ort_status* ort_KernelDefBuilder_SetDomain(void* builder, const char* domain)
    ort_status* ort_KernelDefBuilder_SetSinceVersion(void* builder, int first, int last)
    ort_status* ort_KernelDefBuilder_SetExecutionProvider(void* builder, const char* name)
    ort_status* ort_KernelDefBuilder_AddTypeConstraint(void* builder, const char* name, const void*const* types, size_t count)
    ort_status* ort_KernelDefBuilder_Build(void* builder, void** definition)
    void ort_ReleaseKernelDef(void* definition)
    ort_status* ort_GetTensorDataType(int element, const void** type)

cdef bytes name_text = settings.PROVIDER.encode()
cdef const char* ep_name = name_text
cdef bytes version_text = cypool.__version__.encode()
cdef const char* ep_version = version_text


# --- errors ------------------------------------------------------------------------------------------------------------------------------


class OrtError(Exception):
    """What a function of ONNX Runtime failed with: its code, its message."""


cdef int check(ort_status* status) except -1:
    """Raise OrtError for a status that is a failure."""
    if status == NULL:
        return 0
    code, text = ort_GetErrorCode(status), ort_GetErrorMessage(status).decode("utf-8", "replace")
    ort_ReleaseStatus(status)
    raise OrtError(code, text)


cdef ort_status* failure(error) noexcept:
    """Return the status that an exception becomes: cypool's own words where the call does not fit the operator."""
    code, text = ORT_FAIL, f"cypool: {type(error).__name__}: {error}"
    if isinstance(error, SpecError):
        code, text = ORT_INVALID_ARGUMENT, str(error)
    elif isinstance(error, OrtError):
        code, text = error.args
    elif isinstance(error, KeyboardInterrupt):
        PyErr_SetInterrupt()  # ONNX Runtime knows no such thing; Python raises it once the session has returned
    return ort_CreateStatus(code, text.encode("utf-8", "replace"))


# --- nodes -------------------------------------------------------------------------------------------------------------------------------


cdef enum:
    RANK = 64  # numpy has no more axes

cdef char nothing[16]  # where arrays without elements lie


# numpy's types by ONNX's number
cdef dict DTYPES = {
    element.number: BFLOAT16 if element.name == "bfloat16" else numpy.dtype(element.numpy)
    for element in ELEMENTS.values()
    if element.numpy
}


cdef object array_of(void* value, bint writable):
    """Return an array on the memory of a tensor."""
    cdef int type
    cdef int flags = np.NPY_ARRAY_CARRAY if writable else np.NPY_ARRAY_CARRAY_RO
    cdef const int64_t* sizes
    cdef size_t rank
    cdef void* data
    check(ort_GetTensorElementTypeAndShapeDataReference(value, &type, &sizes, &rank))
    check(ort_GetTensorMutableData(value, &data))
    if rank > RANK:
        raise SpecValueError(f"a tensor of {rank} dimensions, expected at most {RANK}")
    dtype = DTYPES[type]
    if data == NULL:
        data = nothing
    elif <size_t>data % <size_t>(<np.dtype>dtype).itemsize:
        flags &= ~np.NPY_ARRAY_ALIGNED
    Py_INCREF(dtype)
    return PyArray_NewFromDescr(&PyArray_Type, <PyArray_Descr*>dtype, <int>rank, <const np.npy_intp*>sizes, NULL, data, flags, NULL)


cdef long nodes = 0  # alive


cdef class Node:
    """A node of a model: a call of cypool that lacks nothing but arrays."""

    cdef object op, opset, threads
    cdef tuple attributes

    def __cinit__(self):
        global nodes
        nodes += 1

    def __dealloc__(self):
        global nodes
        nodes -= 1

    cdef int run(self, void* context) except -1:
        """Compute the outputs from the inputs, both on ONNX Runtime's memory."""
        cdef size_t count
        cdef const void* value
        cdef list inputs = [], outputs = []
        cdef tuple arrays
        cdef Prepared call
        check(ort_KernelContext_GetInputCount(context, &count))
        for index in range(count):
            check(ort_KernelContext_GetInput(context, index, &value))
            inputs.append(None if value == NULL else array_of(<void*>value, False))
        arrays = tuple(inputs)
        check(ort_KernelContext_GetOutputCount(context, &count))
        call = (<Calls>ops.CALLS).prepared(self.op, self.opset, self.attributes, arrays, count)
        for index in range(count):
            outputs.append(output_of(context, index, call))
        if call.left_out is not None:
            arrays = arrays + call.left_out
        start(call, arrays, tuple(outputs), self.threads)
        return 0


cdef object output_of(void* context, size_t index, Prepared call):
    """Return an array for an output: on ONNX Runtime's memory, or, where the node leaves that output out, on memory of its own."""
    cdef int64_t sizes[RANK]
    cdef Py_ssize_t rank = 0
    cdef void* value = NULL
    dtype, shape = call.outputs[index]
    for size in <tuple>shape:
        sizes[rank] = size
        rank += 1
    check(ort_KernelContext_GetOutput(context, index, sizes, rank, &value))
    return numpy.empty(shape, dtype) if value == NULL else array_of(value, True)


cdef struct Kernel:
    ort_structure head
    PyObject* node


cdef ort_status* kernel_compute(Kernel* kernel, void* context) noexcept nogil:
    with gil:
        try:
            (<Node>kernel.node).run(context)
            return NULL
        except BaseException as error:
            return failure(error)


cdef void kernel_release(Kernel* kernel) noexcept nogil:
    if Py_IsInitialized():
        with gil:
            Py_DECREF(<object>kernel.node)
    free(kernel)


cdef ort_status* create_kernel(void* offer, const void* info, void** kernel) noexcept nogil:
    kernel[0] = NULL
    with gil:
        try:
            kernel[0] = (<Offer>offer).kernel(info)
            return NULL
        except BaseException as error:
            return failure(error)


# --- kernels to choose from --------------------------------------------------------------------------------------------------------------


cdef class Offer:
    """An operator version as a session offers it."""

    cdef object version, threads, fault

    cdef Kernel* kernel(self, const void* info) except NULL:
        """Return a kernel for a node of the version."""
        if self.fault is not None:
            raise self.fault
        cdef Node node = Node()
        cdef list named = []
        for attribute in self.version.attributes:
            named += attribute.name, read_attribute(info, attribute.name.encode(), attribute.type)
        plan.check_attributes(self.version, dict(zip(named[::2], named[1::2], strict=True)))
        node.op, node.opset, node.threads = self.version.op, self.version.since_version, self.threads
        node.attributes = tuple(named)
        cdef Kernel* kernel = <Kernel*>malloc(sizeof(Kernel))
        if kernel == NULL:
            raise MemoryError
        ort_initialize(&kernel.head, KERNEL_SLOTS)
        kernel.head.slots[KERNEL_COMPUTE] = <ort_function>kernel_compute
        kernel.head.slots[KERNEL_RELEASE] = <ort_function>kernel_release
        Py_INCREF(node)
        kernel.node = <PyObject*>node
        return kernel


cdef object read_attribute(const void* info, const char* name, kind):
    """Return an attribute's value, None where the node has none."""
    cdef int64_t integer
    cdef float number
    cdef size_t count = 0
    cdef ort_status* status
    cdef np.ndarray many
    cdef bytes text
    if kind == "INT":
        status = ort_KernelInfoGetAttribute_int64(info, name, &integer)
        return integer if given(status) else None
    if kind == "FLOAT":
        status = ort_KernelInfoGetAttribute_float(info, name, &number)
        return number if given(status) else None
    if kind == "INTS":
        if not given(ort_KernelInfoGetAttributeArray_int64(info, name, NULL, &count)):
            return None
        many = numpy.empty(count, numpy.int64)
        if count:
            check(ort_KernelInfoGetAttributeArray_int64(info, name, <int64_t*>np.PyArray_DATA(many), &count))
        return tuple(many.tolist())
    if kind == "FLOATS":
        if not given(ort_KernelInfoGetAttributeArray_float(info, name, NULL, &count)):
            return None
        many = numpy.empty(count, numpy.float32)
        if count:
            check(ort_KernelInfoGetAttributeArray_float(info, name, <float*>np.PyArray_DATA(many), &count))
        return tuple(many.tolist())
    if kind == "STRING":
        if not given(ort_KernelInfoGetAttribute_string(info, name, NULL, &count)):
            return None
        text = bytes(count)
        check(ort_KernelInfoGetAttribute_string(info, name, text, &count))
        return text.rstrip(b"\0").decode("utf-8", "replace")
    raise AssertionError(f"attribute {name.decode()} is of type {kind}")


cdef bint given(ort_status* status) noexcept:
    """Whether a node has an attribute: asked for an absent one, ONNX Runtime fails."""
    if status != NULL:
        ort_ReleaseStatus(status)
    return status == NULL


# --- the provider of a session -----------------------------------------------------------------------------------------------------------


cdef class Provider:
    """What a session is offered: the kernels, all of them or those of some operators."""

    cdef void* registry
    cdef list offers  # the registry points to them
    cdef object operators, threads, fault

    def __cinit__(self):
        self.registry = NULL

    def __dealloc__(self):
        if self.registry != NULL:
            ort_ReleaseKernelRegistry(self.registry)

    cdef int fill(self) except -1:
        """Make the registry."""
        check(ort_CreateKernelRegistry(&self.registry))
        self.offers = []
        for version, constraints in rows():
            self.add(version, constraints)
        return 0

    cdef int add(self, version, constraints) except -1:
        """Add a kernel for an operator version; the registry takes a copy of what is said of it here."""
        cdef void* builder = NULL
        cdef void* definition = NULL
        cdef const void* types[32]
        cdef Offer offer = Offer()
        cdef bytes op = version.op.encode(), name
        offer.version, offer.threads, offer.fault = version, self.threads, self.fault
        self.offers.append(offer)
        check(ort_CreateKernelDefBuilder(&builder))
        try:
            check(ort_KernelDefBuilder_SetOperatorType(builder, op))
            check(ort_KernelDefBuilder_SetDomain(builder, b""))
            check(ort_KernelDefBuilder_SetSinceVersion(builder, version.since_version, version.since_version))
            check(ort_KernelDefBuilder_SetExecutionProvider(builder, ep_name))
            for constraint, numbers in constraints:
                name = constraint.encode()
                for place, number in enumerate(numbers):
                    check(ort_GetTensorDataType(number, &types[place]))
                check(ort_KernelDefBuilder_AddTypeConstraint(builder, name, types, len(numbers)))
            check(ort_KernelDefBuilder_Build(builder, &definition))
            check(ort_KernelRegistry_AddKernel(self.registry, definition, create_kernel, <void*>offer))
        finally:
            if definition != NULL:
                ort_ReleaseKernelDef(definition)
            ort_ReleaseKernelDefBuilder(builder)
        return 0

    cdef int take(self, const void* graph, void* support) except -1:
        """Tell which nodes of a graph there is a kernel for; which of them are taken depends on who else asks, and in which order."""
        cdef size_t count, index
        cdef const void* definition
        cdef const char* op
        check(ort_Graph_GetNumNodes(graph, &count))
        cdef const void** nodes = <const void**>malloc((count + 1) * sizeof(void*))
        if nodes == NULL:
            raise MemoryError
        try:
            check(ort_Graph_GetNodes(graph, nodes, count))
            for index in range(count):
                definition = NULL
                check(ort_EpGraphSupportInfo_LookUpKernel(support, nodes[index], &definition))
                if definition == NULL:
                    continue
                check(ort_Node_GetOperatorType(nodes[index], &op))
                if self.operators is None or op.decode() in self.operators:
                    check(ort_EpGraphSupportInfo_AddSingleNode(support, nodes[index]))
        finally:
            free(nodes)
        return 0


cdef dict options_of(const void* session_options):
    """Return the provider's options by name."""
    cdef void* pairs = NULL
    cdef const char*const* keys
    cdef const char*const* values
    cdef size_t count
    check(ort_GetSessionOptionsConfigEntries(session_options, &pairs))
    try:
        ort_GetKeyValuePairs(pairs, &keys, &values, &count)
        found = {keys[i].decode("utf-8", "replace"): values[i].decode("utf-8", "replace") for i in range(count)}
    finally:
        ort_ReleaseKeyValuePairs(pairs)
    return {name.removeprefix(settings.PREFIX): value for name, value in found.items() if name.startswith(settings.PREFIX)}


cdef struct Ep:
    ort_structure head
    PyObject* provider


cdef const char* ep_get_name(const void* ep) noexcept nogil:
    return ep_name


cdef ort_status* ep_get_kernel_registry(Ep* ep, const void** registry) noexcept nogil:
    with gil:
        registry[0] = (<Provider>ep.provider).registry
    return NULL


cdef ort_status* ep_get_capability(Ep* ep, const void* graph, void* support) noexcept nogil:
    with gil:
        try:
            (<Provider>ep.provider).take(graph, support)
            return NULL
        except BaseException as error:
            return failure(error)


cdef ort_status* ep_is_concurrent_run_supported(Ep* ep, bint_byte* out) noexcept nogil:
    out[0] = True
    return NULL


cdef Ep* new_ep(const void* session_options) except NULL:
    """Return an execution provider with the options of a session.

    Options that make no sense are no failure yet: ONNX Runtime's Python package would print a line and go on without the provider.
    The first kernel to be made refuses them, which is an exception.
    """
    cdef Provider provider = Provider()
    try:
        provider.operators, provider.threads = settings.read(options_of(session_options))
    except SpecError as error:
        provider.operators, provider.threads, provider.fault = None, 1, error
    provider.fill()
    cdef Ep* ep = <Ep*>malloc(sizeof(Ep))
    if ep == NULL:
        raise MemoryError
    ort_initialize(&ep.head, EP_SLOTS)
    ep.head.slots[EP_GET_NAME] = <ort_function>ep_get_name
    ep.head.slots[EP_GET_CAPABILITY] = <ort_function>ep_get_capability
    ep.head.slots[EP_GET_KERNEL_REGISTRY] = <ort_function>ep_get_kernel_registry
    ep.head.slots[EP_IS_CONCURRENT_RUN_SUPPORTED] = <ort_function>ep_is_concurrent_run_supported
    Py_INCREF(provider)
    ep.provider = <PyObject*>provider
    return ep


# --- the factory, of which there is one --------------------------------------------------------------------------------------------------

cdef ort_structure factory
cdef bint ready = False  # whether Python has run this module, which loading the library alone does not


cdef const char* factory_get_vendor(const void* self) noexcept nogil:
    return b"cypool"


cdef uint32_t factory_get_vendor_id(const void* self) noexcept nogil:
    return 0


cdef const char* factory_get_version(const void* self) noexcept nogil:
    return ep_version


cdef ort_status* factory_get_supported_devices(
    void* self, const void*const* devices, size_t count, void** found, size_t room, size_t* number
) noexcept nogil:
    cdef size_t i
    number[0] = 0
    for i in range(count):
        if room and ort_HardwareDevice_Type(devices[i]) == ORT_DEVICE_CPU:
            number[0] = 1
            return ort_CreateEpDevice(self, devices[i], NULL, NULL, found)
    return NULL


cdef ort_status* factory_create_ep(
    void* self,
    const void*const* devices,
    const void*const* metadata,
    size_t count,
    const void* session_options,
    const void* logger,
    void** ep,
) noexcept nogil:
    ep[0] = NULL
    with gil:
        try:
            ep[0] = new_ep(session_options)
            return NULL
        except BaseException as error:
            return failure(error)


cdef void factory_release_ep(void* self, Ep* ep) noexcept nogil:
    if Py_IsInitialized():
        with gil:
            Py_DECREF(<object>ep.provider)
    free(ep)


# The CPU's memory needs no allocator, transfer or stream of ours. ONNX Runtime calls these unasked.


cdef ort_status* factory_create_allocator(void* self, const void* info, const void* options, void** out) noexcept nogil:
    out[0] = NULL
    return NULL


cdef void factory_release_allocator(void* self, void* allocator) noexcept nogil:
    pass


cdef ort_status* factory_create_data_transfer(void* self, void** out) noexcept nogil:
    out[0] = NULL
    return NULL


cdef bint_byte factory_is_stream_aware(const void* self) noexcept nogil:
    return False


cdef ort_status* factory_create_sync_stream(void* self, const void* device, const void* options, void** out) noexcept nogil:
    out[0] = NULL
    return NULL


cdef public ort_status* CreateEpFactories(
    const char* name, ort_table base, const void* logger, void** factories, size_t room, size_t* count
) noexcept nogil:
    """Give ONNX Runtime the factory. None where the interface has not what is needed; then registering fails in ONNX Runtime's words."""
    count[0] = 0
    if not ready or room < 1 or not ort_connect(base):
        return NULL
    ort_initialize(&factory, FACTORY_SLOTS)
    factory.slots[FACTORY_GET_NAME] = <ort_function>ep_get_name
    factory.slots[FACTORY_GET_VENDOR] = <ort_function>factory_get_vendor
    factory.slots[FACTORY_GET_VENDOR_ID] = <ort_function>factory_get_vendor_id
    factory.slots[FACTORY_GET_VERSION] = <ort_function>factory_get_version
    factory.slots[FACTORY_GET_SUPPORTED_DEVICES] = <ort_function>factory_get_supported_devices
    factory.slots[FACTORY_CREATE_EP] = <ort_function>factory_create_ep
    factory.slots[FACTORY_RELEASE_EP] = <ort_function>factory_release_ep
    factory.slots[FACTORY_CREATE_ALLOCATOR] = <ort_function>factory_create_allocator
    factory.slots[FACTORY_RELEASE_ALLOCATOR] = <ort_function>factory_release_allocator
    factory.slots[FACTORY_CREATE_DATA_TRANSFER] = <ort_function>factory_create_data_transfer
    factory.slots[FACTORY_IS_STREAM_AWARE] = <ort_function>factory_is_stream_aware
    factory.slots[FACTORY_CREATE_SYNC_STREAM] = <ort_function>factory_create_sync_stream
    factories[0] = &factory
    count[0] = 1
    return NULL


cdef public ort_status* ReleaseEpFactory(void* factory) noexcept nogil:
    """Nothing is to be released: the factory is static. At the end of a process this is called after Python has gone."""
    return NULL


# --- for tests ---------------------------------------------------------------------------------------------------------------------------


def positions():
    """Return the functions of ONNX Runtime that are called: name, table, position, the API version that introduced it."""
    return [
        (ort_positions[i].name.decode(), ort_positions[i].table.decode(), ort_positions[i].position, ort_positions[i].since)
        for i in range(ORT_POSITIONS)
    ]


def alive():
    """Return how many nodes there are in all sessions."""
    return nodes


def poison():
    """Let every position that came after the stated version end the process, in all that is handed in from now on."""
    global ort_later_slot
    ort_later_slot = <ort_function>abort


ready = True

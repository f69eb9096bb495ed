/* A runtime of one operator that cypool can check: GlobalLpPool, in float32.
 *
 * An example of a harness in a language other than Python. It speaks the protocol of docs/protocol.md: one JSON object a line on standard
 * input, one a line back on standard output. It uses nothing but the C library, so it brings its own reader of JSON, of base64, and of the
 * few fields of an ONNX model that it needs. A harness around a real runtime keeps the first three parts of this file and calls the runtime
 * where this one computes.
 *
 *     cc -O2 -o global_lp_pool global_lp_pool.c -lm
 *     cypool smoke exec:./global_lp_pool
 *     cypool check exec:./global_lp_pool --op GlobalLpPool --type float
 */

#define _POSIX_C_SOURCE 200809L /* getline */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory and refusals: both last for one request ------------------------------------------------------------------------------ */

/* What a request takes is given back all at once after its answer. */
typedef union Block { union Block *next; max_align_t aligned; } Block;
static Block *blocks;

static void *take(size_t size) {
    Block *block = calloc(1, sizeof *block + size);
    if (!block) abort(); /* a crash is one case's verdict; the runner starts us again */
    block->next = blocks;
    blocks = block;
    return block + 1;
}

static void give_back(void) {
    while (blocks) {
        Block *next = blocks->next;
        free(blocks);
        blocks = next;
    }
}

/* A refusal leaves all that is under way and becomes the answer: "unsupported" for what this program does not have, "error" for what is
 * wrong. The phase says whether the model alone was to blame, or the model with these inputs. */
static jmp_buf refused;
static const char *status, *phase;
static char message[200];

_Noreturn static void refuse(const char *with_status, const char *why, ...) {
    va_list arguments;
    va_start(arguments, why);
    vsnprintf(message, sizeof message, why, arguments);
    va_end(arguments);
    status = with_status;
    longjmp(refused, 1);
}

/* ---- JSON: a value keeps its place in the text, and its members as a list ------------------------------------------------------------ */

typedef struct Json {
    char kind;         /* one of { [ " 0 and, for true, false and null, t f n */
    const char *start; /* the value's text, which an id is echoed by */
    size_t size;
    char *key, *text; /* the name of a member; a string without its escapes */
    struct Json *first, *next;
} Json;

static const char *here; /* where the reader is */

static void skip_space(void) { here += strspn(here, " \t\r\n"); }

static void expect(char wanted) {
    skip_space();
    if (*here++ != wanted) refuse("error", "the request is not JSON: no '%c'", wanted);
}

static char *utf8(char *to, unsigned code) {
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xC0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3F));
    } else { /* halves of a surrogate pair are left apart: no name here has one */
        *to++ = (char)(0xE0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3F));
        *to++ = (char)(0x80 | (code & 0x3F));
    }
    return to;
}

static char *read_string(void) {
    expect('"');
    char *text = take(strcspn(here, "\n") + 1), *to = text;
    while (*here != '"') {
        if (!*here) refuse("error", "the request is not JSON: a string has no end");
        if (*here != '\\') {
            *to++ = *here++;
            continue;
        }
        here++;
        const char *plain = strchr("n\nt\tr\rb\bf\f", *here);
        if (*here == 'u') {
            unsigned code;
            if (sscanf(here + 1, "%4x", &code) != 1 || strlen(here) < 5) refuse("error", "the request is not JSON: \\u");
            to = utf8(to, code);
            here += 5;
        } else if (!*here) {
            refuse("error", "the request is not JSON: a string has no end");
        } else {
            *to++ = plain ? plain[1] : *here;
            here++;
        }
    }
    here++;
    return text;
}

static Json *read_value(int depth) {
    if (depth > 20) refuse("error", "the request is nested too deeply");
    skip_space();
    Json *value = take(sizeof *value);
    value->start = here;
    if (*here == '{' || *here == '[') {
        value->kind = *here++;
        char close = value->kind == '{' ? '}' : ']';
        Json **last = &value->first;
        for (skip_space(); *here != close; skip_space()) {
            if (value->first) expect(',');
            char *key = NULL;
            if (close == '}') {
                skip_space();
                key = read_string();
                expect(':');
            }
            *last = read_value(depth + 1);
            (*last)->key = key;
            last = &(*last)->next;
        }
        here++;
    } else if (*here == '"') {
        value->kind = '"';
        value->text = read_string();
    } else {
        size_t size = strspn(here, "+-.0123456789Eaeflnrstu");
        if (!size) refuse("error", "the request is not JSON");
        value->kind = strchr("tfn", *here) ? *here : '0';
        here += size;
    }
    value->size = (size_t)(here - value->start);
    return value;
}

static Json *find(const Json *object, const char *key, char kind) {
    for (Json *found = object->first; found; found = found->next)
        if (found->key && !strcmp(found->key, key) && found->kind == kind) return found;
    return NULL;
}

static Json *member(const Json *object, const char *key, char kind) {
    Json *found = find(object, key, kind);
    if (!found) refuse("error", "the request has no usable '%s'", key);
    return found;
}

/* ---- Base64 --------------------------------------------------------------------------------------------------------------------------- */

static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

typedef struct { const uint8_t *at, *end; } Bytes;

static Bytes decode(const char *text) {
    uint8_t *data = take(strlen(text) / 4 * 3 + 3), *to = data;
    uint32_t bits = 0;
    int count = 0;
    for (; *text && *text != '='; text++) {
        const char *digit = strchr(DIGITS, *text);
        if (!digit) refuse("error", "not base64");
        bits = bits << 6 | (uint32_t)(digit - DIGITS);
        if ((count += 6) >= 8) *to++ = (uint8_t)(bits >> (count -= 8));
    }
    return (Bytes){data, to};
}

static void print_base64(const uint8_t *data, size_t size) {
    for (size_t i = 0; i < size; i += 3) {
        uint32_t left = (uint32_t)(size - i), bits = (uint32_t)data[i] << 16;
        if (left > 1) bits |= (uint32_t)data[i + 1] << 8;
        if (left > 2) bits |= data[i + 2];
        putchar(DIGITS[bits >> 18]);
        putchar(DIGITS[bits >> 12 & 63]);
        putchar(left > 1 ? DIGITS[bits >> 6 & 63] : '=');
        putchar(left > 2 ? DIGITS[bits & 63] : '=');
    }
}

/* ---- Protocol Buffers: a message is fields of a number and a value, and a field that is not known is passed over --------------------- */

typedef struct {
    uint32_t number;
    uint64_t value; /* a number, or the bits of one */
    Bytes bytes;    /* a string, or a message within */
} Field;

static uint64_t read_varint(Bytes *from) {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && from->at < from->end; shift += 7) {
        uint8_t byte = *from->at++;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80)) return value;
    }
    refuse("error", "the model is no Protocol Buffers message");
}

static bool next_field(Bytes *message_, Field *field) {
    if (message_->at == message_->end) return false;
    uint64_t tag = read_varint(message_), size = 0;
    *field = (Field){.number = (uint32_t)(tag >> 3)};
    switch (tag & 7) {
    case 0: field->value = read_varint(message_); return true;
    case 1: size = 8; break;
    case 2: size = read_varint(message_); break;
    case 5: size = 4; break;
    default: refuse("error", "the model is no Protocol Buffers message");
    }
    if (size > (uint64_t)(message_->end - message_->at)) refuse("error", "the model is cut short");
    field->bytes = (Bytes){message_->at, message_->at + size};
    if ((tag & 7) != 2)
        for (uint64_t i = 0; i < size; i++) field->value |= (uint64_t)message_->at[i] << 8 * i;
    message_->at += size;
    return true;
}

static bool is(Bytes text, const char *wanted) {
    size_t size = (size_t)(text.end - text.at);
    return size == strlen(wanted) && (!size || !memcmp(text.at, wanted, size));
}

/* ---- The model: one GlobalLpPool, and nothing else ------------------------------------------------------------------------------------ */

/* Field numbers are those of onnx.proto. */
enum { MODEL_GRAPH = 7, MODEL_OPSET = 8, OPSET_DOMAIN = 1, OPSET_VERSION = 2, GRAPH_NODE = 1, GRAPH_INITIALIZER = 5 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_OP = 4, NODE_ATTRIBUTE = 5, NODE_DOMAIN = 7 };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_F = 2, ATTRIBUTE_I = 3, ATTRIBUTE_TYPE = 20, TYPE_FLOAT = 1, TYPE_INT = 2 };

typedef struct {
    uint64_t opset;
    double p;
} Model;

static double read_p(Bytes attribute, uint64_t opset) {
    uint64_t type = 0, integer = 0;
    uint32_t bits = 0;
    float real;
    for (Field field; next_field(&attribute, &field);) {
        if (field.number == ATTRIBUTE_NAME && !is(field.bytes, "p")) refuse("error", "an attribute that GlobalLpPool does not have");
        if (field.number == ATTRIBUTE_TYPE) type = field.value;
        if (field.number == ATTRIBUTE_I) integer = field.value;
        if (field.number == ATTRIBUTE_F) bits = (uint32_t)field.value;
    }
    memcpy(&real, &bits, sizeof real);
    /* Version 1 has p as a FLOAT, the later ones as an INT. */
    if (type != (opset < 2 ? TYPE_FLOAT : TYPE_INT)) refuse("error", "p is of the wrong type for opset %llu", (unsigned long long)opset);
    double p = opset < 2 ? real : (double)(int64_t)integer;
    if (!(p > 0)) refuse("error", "p is %g, expected a number above 0", p);
    return p;
}

static Model read_model(Bytes model) {
    Model found = {.p = 2};
    Bytes graph = {0}, node = {0};
    int nodes = 0, initializers = 0, inputs = 0, outputs = 0;
    for (Field field; next_field(&model, &field);) {
        if (field.number == MODEL_GRAPH) graph = field.bytes;
        if (field.number != MODEL_OPSET) continue;
        uint64_t version = 0;
        bool onnx = true; /* the domain of ONNX itself is "", and then often left out */
        for (Field part; next_field(&field.bytes, &part);) {
            if (part.number == OPSET_DOMAIN) onnx = is(part.bytes, "") || is(part.bytes, "ai.onnx");
            if (part.number == OPSET_VERSION) version = part.value;
        }
        if (onnx) found.opset = version;
    }
    for (Field field; next_field(&graph, &field);) {
        if (field.number == GRAPH_NODE) node = field.bytes, nodes++;
        if (field.number == GRAPH_INITIALIZER) initializers++;
    }
    if (!found.opset || !nodes) refuse("error", "no ONNX model");
    if (nodes > 1 || initializers) refuse("unsupported", "more than one node");
    Bytes rest = node;
    for (Field field; next_field(&rest, &field);) {
        if ((field.number == NODE_OP && !is(field.bytes, "GlobalLpPool")) || (field.number == NODE_DOMAIN && !is(field.bytes, "")))
            refuse("unsupported", "no such operator: %.*s", (int)(field.bytes.end - field.bytes.at), (const char *)field.bytes.at);
        inputs += field.number == NODE_INPUT;
        outputs += field.number == NODE_OUTPUT;
    }
    if (inputs != 1 || outputs != 1) refuse("error", "GlobalLpPool has %d inputs and %d outputs, expected one of each", inputs, outputs);
    for (Field field; next_field(&node, &field);)
        if (field.number == NODE_ATTRIBUTE) found.p = read_p(field.bytes, found.opset);
    return found;
}

/* ---- Computing ------------------------------------------------------------------------------------------------------------------------ */

/* The p-norm of a row, in double, of values scaled by the largest: no power overflows, and none that counts underflows. */
static float norm(const float *x, size_t count, double p) {
    double largest = 0, sum = 0;
    bool nan = false;
    for (size_t i = 0; i < count; i++) {
        nan |= isnan(x[i]);
        largest = fmax(largest, fabs(x[i]));
    }
    if (nan) return NAN;
    if (largest == 0 || isinf(largest) || isinf(p)) return (float)largest;
    for (size_t i = 0; i < count; i++) sum += pow(fabs(x[i]) / largest, p);
    return (float)(largest * pow(sum, 1 / p));
}

enum { MOST = 1 << 28 }; /* elements of X, which keeps products of sizes within size_t */

/* Read the one input, compute, and print the answer. */
static void run(const Json *request, Model model) {
    const Json *input = member(request, "inputs", '[')->first;
    if (!input || input->next) refuse("error", "expected one input");
    const char *type = member(input, "type", '"')->text;
    bool allowed = !strcmp(type, "float16") || !strcmp(type, "double") || (!strcmp(type, "bfloat16") && model.opset >= 22);
    if (strcmp(type, "float")) refuse(allowed ? "unsupported" : "error", "X is %s, expected float", type);

    const Json *shape = member(input, "shape", '[');
    size_t rank = 0, rows = 1, columns = 1;
    for (const Json *size = shape->first; size; size = size->next, rank++) {
        size_t *product = rank < 2 ? &rows : &columns;
        unsigned long long value = strtoull(size->start, NULL, 10);
        bool number = size->size == strspn(size->start, "0123456789");
        if (!number || value > MOST || (*product *= (size_t)value) > MOST) refuse("error", "X has a shape that is none, or too large");
    }
    if (rank < 2) refuse("error", "X is of rank %zu, expected 2 or more", rank);
    Bytes data = decode(member(input, "data", '"')->text);
    if ((size_t)(data.end - data.at) != rows * columns * sizeof(float)) refuse("error", "X has not the bytes of its shape");
    const float *x = (const float *)data.at; /* this program is for machines that are little-endian, as the protocol is */

    const Json *name = member(request, "outputs", '[')->first;
    if (!name || name->next) refuse("error", "expected one output to be asked for");
    float *y = take(rows * sizeof(float));
    for (size_t row = 0; row < rows; row++) y[row] = norm(x + row * columns, columns, model.p);

    const Json *id = member(request, "id", '"');
    printf("{\"id\":%.*s,\"status\":\"ok\",\"outputs\":[{", (int)id->size, id->start);
    printf("\"name\":%.*s,\"type\":\"float\",\"shape\":[", (int)name->size, name->start);
    const Json *size = shape->first;
    for (size_t axis = 0; axis < rank; axis++, size = size->next)
        printf("%s%.*s", axis ? "," : "", axis < 2 ? (int)size->size : 1, axis < 2 ? size->start : "1");
    printf("],\"data\":\"");
    print_base64((const uint8_t *)y, rows * sizeof(float));
    printf("\"}]}\n");
}

/* ---- The loop ------------------------------------------------------------------------------------------------------------------------- */

int main(void) {
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        const Json *volatile request = NULL;
        phase = "load";
        if (!setjmp(refused)) {
            here = line;
            request = read_value(0);
            const char *command = member(request, "cmd", '"')->text;
            if (!strcmp(command, "stop")) break;
            if (!strcmp(command, "describe")) {
                printf("{\"name\":\"global_lp_pool.c\",\"version\":\"1.0\",\"protocol\":1}\n");
            } else {
                Model model = read_model(decode(member(request, "model", '"')->text));
                phase = "run";
                run(request, model);
            }
        } else {
            const Json *id = request ? find(request, "id", '"') : NULL;
            if (!id) return 1; /* what was asked is not to be understood, so there is nobody to answer */
            for (char *c = message; *c; c++)
                if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\') *c = '\'';
            printf("{\"id\":%.*s,\"status\":\"%s\",\"phase\":\"%s\",\"message\":\"%s\"}\n", (int)id->size, id->start, status, phase, message);
        }
        fflush(stdout); /* the runner waits for the answer before it asks again */
        give_back();
    }
    free(line);
    give_back();
    return 0;
}

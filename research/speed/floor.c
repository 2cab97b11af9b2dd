/* The floor: what a round must cost. The paper's three policies in plain scalar C, with nothing but their own
 * arithmetic: only the pulled arm is recomputed, MNAR keeps its inverse by Sherman-Morrison, draws come from
 * alias tables and SFC64. Built by run.py with gcc -O3 -march=native. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct { uint64_t a, b, c, counter; } Generator;

static inline uint64_t next(Generator *g) {
    uint64_t out = g->a + g->b + g->counter++;
    g->a = g->b ^ (g->b >> 11);
    g->b = g->c + (g->c << 3);
    g->c = ((g->c << 24) | (g->c >> 40)) + out;
    return out;
}

static inline double uniform(Generator *g) { return (next(g) >> 11) * 0x1.0p-53; }

static Generator seeded(uint64_t seed) {
    Generator g = {seed, seed, seed, 1};
    for (int i = 0; i < 12; i++) next(&g);
    return g;
}

/* Normal numbers by the ziggurat of Marsaglia and Tsang, 256 strips. */
#define STRIPS 256
static double edge[STRIPS + 1], height[STRIPS + 1];
static const double TAIL = 3.6541528853610088, AREA = 0.00492867323399;

static void build_ziggurat(void) {
    edge[0] = AREA / exp(-0.5 * TAIL * TAIL);
    edge[1] = TAIL;
    for (int i = 2; i < STRIPS; i++)
        edge[i] = sqrt(-2 * log(AREA / edge[i - 1] + exp(-0.5 * edge[i - 1] * edge[i - 1])));
    edge[STRIPS] = 0;
    for (int i = 0; i <= STRIPS; i++) height[i] = exp(-0.5 * edge[i] * edge[i]);
}

static inline double normal(Generator *g) {
    for (;;) {
        uint64_t bits = next(g);
        int strip = bits & (STRIPS - 1);
        double u = 2 * ((bits >> 11) * 0x1.0p-53) - 1, x = u * edge[strip];
        if (fabs(x) < edge[strip + 1]) return x;
        if (strip == 0) {
            double a, b;
            do {
                a = -log(uniform(g) + 1e-300) / TAIL;
                b = -log(uniform(g) + 1e-300);
            } while (2 * b < a * a);
            return u > 0 ? TAIL + a : -TAIL - a;
        }
        if (height[strip] + uniform(g) * (height[strip + 1] - height[strip]) < exp(-0.5 * x * x)) return x;
    }
}

static inline int draw_cell(Generator *g, const double *chance, const int64_t *alias, int cells) {
    double place = uniform(g) * cells;
    int cell = (int)place;
    return place - cell < chance[cell] ? cell : (int)alias[cell];
}

static inline int highest(const double *score, int n) {
    int best = 0;
    for (int a = 1; a < n; a++)
        if (score[a] > score[best]) best = a;
    return best;
}

/* Algorithm 1. Cells number (mediator, mediator seen, outcome seen) in binary. */
void run_mcar(uint64_t seed, int64_t horizon, int n, int K, const double *chance, const int64_t *alias,
              const double *mean, const double *sd, double alpha, int64_t *pulls) {
    build_ziggurat();
    Generator g = seeded(seed);
    double level = alpha * log((double)horizon) / 2;
    double *sum = calloc(n, sizeof *sum), *seen = calloc(n, sizeof *seen), *score = malloc(n * sizeof *score);
    for (int a = 0; a < n; a++) score[a] = INFINITY;
    for (int64_t t = 0; t < horizon; t++) {
        int a = highest(score, n), cell = draw_cell(&g, chance + a * 4 * K, alias + a * 4 * K, 4 * K);
        pulls[a]++;
        if (cell & 1) {
            int m = a * K + (cell >> 2);
            sum[a] += mean[m] + sd[m] * normal(&g);
            seen[a]++;
            score[a] = sum[a] / seen[a] + sqrt(level / seen[a]);
        }
    }
    free(sum), free(seen), free(score);
}

/* Algorithm 3. */
void run_mar(uint64_t seed, int64_t horizon, int n, int K, const double *chance, const int64_t *alias,
             const double *mean, const double *sd, double alpha, int64_t *pulls) {
    build_ziggurat();
    Generator g = seeded(seed);
    double logT = log((double)horizon), level = 64 * alpha * logT / 2;
    int64_t first = (int64_t)ceil(logT * logT) * n;
    double *sum = calloc(n * K, sizeof *sum), *seen = calloc(n * K, sizeof *seen), *all = calloc(n * K, sizeof *all);
    double *score = calloc(n, sizeof *score);
    for (int64_t t = 0; t < horizon; t++) {
        int a = t < first ? (int)(t % n) : highest(score, n);
        int cell = draw_cell(&g, chance + a * 4 * K, alias + a * 4 * K, 4 * K), m = a * K + (cell >> 2);
        pulls[a]++;
        all[m]++;
        if (cell & 1) {
            sum[m] += mean[m] + sd[m] * normal(&g);
            seen[m]++;
        }
        double value = 0, width = 0, total = pulls[a];
        for (int k = a * K; k < (a + 1) * K; k++)
            if (all[k] > 0) {
                value += all[k] * sum[k] / seen[k];
                width += all[k] * all[k] / seen[k];
            }
        score[a] = value / total + sqrt(level * width) / total;
        if (isnan(score[a])) score[a] = INFINITY; /* a cell without outcomes */
    }
    free(sum), free(seen), free(all), free(score);
}

/* Algorithm 4 with joint frequencies, K = L. Cells are those of the counts, (K+1) x (K+1). */
void run_mnar(uint64_t seed, int64_t horizon, int n, int K, const double *chance, const int64_t *alias,
              const double *y, const double *condition, double alpha, int64_t *pulls) {
    Generator g = seeded(seed);
    int L = K, cells = (K + 1) * (L + 1);
    double logT = log((double)horizon), size = 0;
    int64_t first = (int64_t)ceil(logT * logT) * n;
    for (int l = 0; l < L; l++) size += fabs(y[l]);
    double *table = calloc(n * K * L, sizeof *table), *missing = calloc(n * K, sizeof *missing);
    double *inverse = calloc(n * K * L, sizeof *inverse), *odds = calloc(n * L, sizeof *odds);
    double *row = calloc(n * K, sizeof *row), *column = calloc(n * L, sizeof *column);
    double *score = calloc(n, sizeof *score), *seen = calloc(n, sizeof *seen);
    for (int a = 0; a < n; a++)
        for (int k = 0; k < K; k++) { /* begin with a trace on the diagonal, so that an inverse exists */
            table[(a * K + k) * L + k] = 1e-3;
            inverse[(a * L + k) * K + k] = 1e3;
        }
    for (int64_t t = 0; t < horizon; t++) {
        int a = t < first ? (int)(t % n) : highest(score, n);
        int cell = draw_cell(&g, chance + a * cells, alias + a * cells, cells), m = cell / (L + 1), l = cell % (L + 1);
        double *inv = inverse + a * L * K, *x = odds + a * L;
        pulls[a]++;
        if (l < L) { /* the table gains one at (m, l): inverse and odds change by a rank-one update */
            double scale = 1 / (1 + inv[l * K + m]), left = x[l];
            double right[64];
            for (int k = 0; k < K; k++) right[k] = inv[l * K + k];
            for (int i = 0; i < L; i++) {
                double factor = inv[i * K + m] * scale;
                x[i] -= factor * left;
                for (int k = 0; k < K; k++) inv[i * K + k] -= factor * right[k];
            }
            row[a * K + m]++, column[a * L + l]++, seen[a]++;
        } else
            for (int i = 0; i < L; i++) x[i] += inv[i * K + m];
        double value = 0, largest = 0, norm = 0, total = pulls[a];
        for (int i = 0; i < L; i++) {
            double one = 1 + x[i];
            value += y[i] * one * column[a * L + i];
            if (one > largest) largest = one;
        }
        for (int k = 0; k < K; k++)
            if (row[a * K + k] > norm) norm = row[a * K + k];
        double width = 8 * L * condition[a] * total / norm * largest / sqrt(total) + K * largest / sqrt(seen[a]);
        score[a] = value / total + size * sqrt(alpha * logT) * width;
    }
    free(table), free(missing), free(inverse), free(odds), free(row), free(column), free(score), free(seen);
}

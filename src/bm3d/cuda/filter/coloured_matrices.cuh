#pragma once
// The transforms of coloured_transforms.cuh: butterflies along a column of a patch, and operands of
// matrix products across the group.

#include "bm3d/cuda/filter/filter_group.cuh"

namespace lull::bm3d::filter_detail {

/// The butterflies that compute a transform of the 8 samples of a column.
template <class Transform2d>
struct Butterflies;
/// The matrix of a transform across the group.
template <class GroupTransform>
struct GroupMatrix;

constexpr float root_8 = 2.8284271f;

__device__ __forceinline__ __half2 broadcast(float value) { return __float2half2_rn(value); }

/// The DCT along a column, scaled by sqrt(8). To save operations, it processes the rows y and 7 - y
/// together. For each of these pairs, inverse() returns the sum e over the even coefficients and
/// the sum o over the odd coefficients. Row y is then (e + o) / 8, and row 7 - y is (e - o) / 8.
template <>
struct Butterflies<Dct> {
  static constexpr int partner(int y) { return 7 - y; }
  static constexpr int first(int pair) { return pair; }
  /// Coefficient k of forward() is gain(k) * sqrt(8) * c, where c is the coefficient for a basis
  /// function of norm 1.
  static __device__ constexpr float gain(int) { return 1; }
  static __device__ __forceinline__ __half2 factor(int k, int y) {
    // The table is a local constexpr variable, so the compiler encodes its elements as constants in
    // the instructions, and the kernel loads no table.
    constexpr Matrix8<float> table = dct_forward<float>;
    return broadcast(root_8 * table.at[k][y]);
  }

  static __device__ __forceinline__ void forward(const __half2 (&s)[4], const __half2 (&d)[4],
                                                 __half2 (&x)[8]) {
    const __half2 p = s[0] + s[3], q = s[1] + s[2], u = s[0] - s[3], v = s[1] - s[2];
    x[0] = p + q;
    x[4] = p - q;
    x[2] = __hfma2(factor(2, 0), u, factor(2, 1) * v);
    x[6] = __hfma2(factor(6, 0), u, factor(6, 1) * v);
#pragma unroll
    for (int k = 1; k < 8; k += 2)
      x[k] = __hfma2(factor(k, 0), d[0],
                     __hfma2(factor(k, 1), d[1], __hfma2(factor(k, 2), d[2], factor(k, 3) * d[3])));
  }
  static __device__ __forceinline__ void inverse(const __half2 (&x)[8], __half2 (&e)[4],
                                                 __half2 (&o)[4]) {
    const __half2 p = x[0] + x[4], q = x[0] - x[4];
    const __half2 u = __hfma2(factor(2, 0), x[2], factor(6, 0) * x[6]);
    const __half2 v = __hfma2(factor(2, 1), x[2], factor(6, 1) * x[6]);
    e[0] = p + u, e[1] = q + v, e[2] = q - v, e[3] = p - u;
#pragma unroll
    for (int y = 0; y < 4; ++y)
      o[y] = __hfma2(factor(1, y), x[1],
                     __hfma2(factor(3, y), x[3], __hfma2(factor(5, y), x[5], factor(7, y) * x[7])));
  }
};

/// The Bior1.5 transform along a column, with the scale of the DCT, as lifting steps on pairs of
/// rows 2i and 2i + 1. Half precision represents the factors exactly.
template <>
struct Butterflies<Bior> {
  static constexpr int partner(int y) { return y ^ 1; }
  static constexpr int first(int pair) { return 2 * pair; }
  // The rows of the matrix in transform_tables.h have the norm 1. The lifting steps compute the
  // same coefficients with other scales, which gain() returns.
  struct Gains {
    float at[8];
  };
  static constexpr Gains make_gains() {
    Gains gains{1};
    for (int k = 1; k < 8; ++k) {
      const auto& row = table_detail::bior.at[k];
      // The first sample on which coefficient k depends.
      const int y = k < 4 ? 4 * (k / 3) : 2 * (k - 4);
      const double own = k < 4 ? row[y] + row[y + 1] : row[y] - row[y + 1];
      gains.at[k] = static_cast<float>(2 / (table_detail::square_root(8) * own));
    }
    return gains;
  }
  static __device__ __forceinline__ float gain(int k) {
    constexpr Gains gains = make_gains();
    return gains.at[k];
  }

  static __device__ __forceinline__ void forward(const __half2 (&s)[4], const __half2 (&d)[4],
                                                 __half2 (&x)[8]) {
    const __half2 p = s[0] + s[1], q = s[2] + s[3], a = d[0] - d[2], b = d[1] - d[3];
    x[0] = p + q;
    x[1] = __hfma2(broadcast(-11.0f / 32), a - b, p - q);
    const __half2 c = a + b;
    x[2] = __hfma2(broadcast(11.0f / 64), c, s[0] - s[1]);
    x[3] = __hfma2(broadcast(-11.0f / 64), c, s[2] - s[3]);
#pragma unroll
    for (int i = 0; i < 4; ++i) x[4 + i] = d[i];
  }
  static __device__ __forceinline__ void inverse(const __half2 (&x)[8], __half2 (&e)[4],
                                                 __half2 (&o)[4]) {
    const __half2 m = x[0] + x[1], n = x[0] - x[1], q = x[7] - x[5], r = x[4] - x[6];
    const __half2 two = broadcast(2), lift = broadcast(11.0f / 16),
                  minus_lift = broadcast(-11.0f / 16);
    e[0] = __hfma2(lift, q, __hfma2(two, x[2], m));
    e[1] = __hfma2(lift, r, __hfma2(-two, x[2], m));
    e[2] = __hfma2(minus_lift, q, __hfma2(two, x[3], n));
    e[3] = __hfma2(minus_lift, r, __hfma2(-two, x[3], n));
#pragma unroll
    for (int i = 0; i < 4; ++i) o[i] = broadcast(4) * x[4 + i];
  }
};

// The Haar and Walsh-Hadamard transforms convert 16 values x[0]..x[15] across a group to the
// coefficients c[0]..c[15]. The code calls the index i of x[i] a slot. Two functions describe the
// transforms:
// - sign(k, i): 1 or -1 if c[k] depends on x[i], and otherwise 0
// - support(k): the number of values on which c[k] depends

// Forward transform: c[k] is the sum of sign(k, i) * x[i] over all i, divided by support(k).
// Inverse transform: x[i] is the sum of sign(k, i) * c[k] over all k. If the values x have white
// noise of variance 1, c[k] has noise of variance 1 / support(k).
template <>
struct GroupMatrix<Haar> {
  // For a group of 32 members, the kernel first computes 16 sums and 16 differences of adjacent
  // members. The matrix then transforms the sums. If this constant is true, the matrix also
  // transforms the differences.
  static constexpr bool transforms_differences = false;
  static __host__ __device__ constexpr int support(int k) {
    return k < 2 ? 16 : k < 4 ? 8 : k < 8 ? 4 : 2;
  }
  static __host__ __device__ constexpr int sign(int k, int slot) {
    if (k == 0) return 1;
    const int n = support(k), place = slot - (k - 16 / n) * n;
    return place < 0 || place >= n ? 0 : place < n / 2 ? 1 : -1;
  }
};
template <>
struct GroupMatrix<WalshHadamard> {
  static constexpr bool transforms_differences = true;
  static __host__ __device__ constexpr int support(int) { return 16; }
  static __host__ __device__ constexpr int sign(int k, int slot) {
    int bits = k & slot;
    bits ^= bits >> 2;
    return ((bits ^ bits >> 1) & 1) != 0 ? -1 : 1;
  }
};

/// The operands of one lane for the products across the group, in the layout of the mma
/// instructions.
struct GroupOperands {
  std::uint32_t forward[2][2];  // right operands for coefficients 0..7 and 8..15
  std::uint32_t inverse[4];     // left operand
};
struct GroupOperandTable {
  GroupOperands lane[32];
};

/// Returns sign / 2^shift as the bits of a half-precision number.
constexpr std::uint32_t power_bits(int sign, int shift) {
  return sign == 0 ? 0u : (sign < 0 ? 0x8000u : 0u) | static_cast<std::uint32_t>(15 - shift) << 10;
}

template <class GroupTransform>
constexpr GroupOperandTable make_group_operands() {
  const auto forward = [](int k, int slot) {
    int shift = 0;
    while (1 << shift < GroupMatrix<GroupTransform>::support(k)) ++shift;
    return power_bits(GroupMatrix<GroupTransform>::sign(k, slot), shift);
  };
  const auto inverse = [](int slot, int k) {
    return power_bits(GroupMatrix<GroupTransform>::sign(k, slot), 0);
  };
  GroupOperandTable table{};
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane / 4, t2 = 2 * (lane % 4);
    for (int half = 0; half < 2; ++half)
      for (int block = 0; block < 2; ++block) {
        const int slot = t2 + 8 * half, k = g + 8 * block;
        table.lane[lane].forward[block][half] = forward(k, slot) | forward(k, slot + 1) << 16;
        const int row = g + 8 * block, column = t2 + 8 * half;
        table.lane[lane].inverse[2 * half + block] = inverse(row, column) | inverse(row, column + 1)
                                                                                << 16;
      }
  }
  return table;
}

template <class GroupTransform>
__device__ const GroupOperandTable group_operands = make_group_operands<GroupTransform>();

}  // namespace lull::bm3d::filter_detail

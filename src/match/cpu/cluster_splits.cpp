// Finds the hyperplane that splits a cluster, and partitions the cluster, 4 or 8 patches at a time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "match/cpu/cluster_splits.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "match/cpu/cluster_kernels.h"
#include "match/cpu/cluster_vectors.h"

HWY_BEFORE_NAMESPACE();
namespace lull::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Multiplies weights by samples, and sums neighbouring pairs of products.
HWY_INLINE hn::Vec<Halves> pair_products(hn::Vec<Bytes> weight, hn::Vec<Bytes> sample) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  return hn::Vec<Halves>{_mm256_maddubs_epi16(weight.raw, sample.raw)};
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
  return hn::Vec<Halves>{_mm_maddubs_epi16(weight.raw, sample.raw)};
#else
  const Halves d;
  const auto weights = hn::BitCast(d, weight), samples = hn::BitCast(d, sample);
  return hn::Add(
      hn::Mul(hn::And(weights, hn::Set(d, 0xff)), hn::ShiftRight<8>(hn::ShiftLeft<8>(samples))),
      hn::Mul(hn::ShiftRight<8>(weights), hn::ShiftRight<8>(samples)));
#endif
}

/// Computes dot products of weights and samples from products of unsigned and signed bytes. Weights
/// become unsigned magnitudes. A sample s becomes the signed byte s - 128, or 127 - s if its weight
/// is negative. The sum of four products of at most 63 * 128 fits in 16 bits.
class Products {
 public:
  HWY_INLINE explicit Products(const Split& split) {
    alignas(64) std::uint8_t magnitudes[patch_samples], flips[patch_samples];
    for (int k = 0; k < patch_samples; ++k) {
      const int weight = split.weight[k], size = weight < 0 ? -weight : weight;
      magnitudes[k] = static_cast<std::uint8_t>(size);
      flips[k] = weight < 0 ? 0x7f : 0x80;
      offset_ += weight < 0 ? -127 * size : 128 * size;
    }
    for (int k = 0; k < parts; ++k) {
      magnitude_[k] = hn::Load(Bytes(), magnitudes + k * part);
      flip_[k] = hn::Load(Bytes(), flips + k * part);
    }
  }
  /// Returns the constant that the caller must add to the sum of products. The constant corrects
  /// the sum, because signed bytes contain the samples minus an offset.
  std::int32_t offset() const { return offset_; }

  /// Returns a vector of partial sums of the dot product for one patch. The dot product is the sum
  /// of all lanes of this vector, plus offset().
  HWY_INLINE hn::Vec<Sums> of(const PatchStrips& strips, std::uint32_t number) const {
    const auto ones = hn::Set(Halves(), 1);
    auto sum = hn::Zero(Sums()), more = sum;
#pragma GCC unroll 4
    for (int k = 0; k < parts; k += 2) {
      const auto both = hn::Add(pairs(strips, number, k), pairs(strips, number, k + 1));
      sum = hn::ReorderWidenMulAccumulate(Sums(), both, ones, sum, more);
    }
    return hn::Add(sum, more);
  }

 private:
  static constexpr int part = 2 * half_lanes, parts = patch_samples / part;

  HWY_INLINE hn::Vec<Halves> pairs(const PatchStrips& strips, std::uint32_t number, int k) const {
    const auto samples = hn::LoadU(Bytes(), sample_at(strips, number, k * part));
    return pair_products(magnitude_[k], hn::Xor(samples, flip_[k]));
  }

  hn::Vec<Bytes> magnitude_[parts], flip_[parts];
  std::int32_t offset_ = 0;
};

constexpr unsigned all_lanes = (1u << sum_lanes) - 1;
constexpr int seed_parts = patch_samples / half_lanes;

/// The 8 seed patches of a cluster, and the functions that perform the steps of find_split()
/// (clusters.h) on these patches.
class SeedPatches {
 public:
  HWY_INLINE SeedPatches(const PatchStrips& strips, std::span<const std::uint32_t> patches) {
    for (int i = 0; i < split_seeds; ++i) {
      const std::uint32_t number = patches[seed_index(i, static_cast<int>(patches.size()))];
      for (int k = 0; k < seed_parts; ++k)
        hn::Store(samples_at(strips, number, k * half_lanes), Halves(), sample(i, k));
    }
    for (int k = 0; k < seed_parts; ++k) {
      total_[k] = hn::Zero(Halves());
      for (int i = 0; i < split_seeds; ++i)
        total_[k] = hn::Add(total_[k], hn::Load(Halves(), sample(i, k)));
    }
  }

  /// Returns the Euclidean distance of each seed patch from the first seed patch, rounded down to
  /// an integer.
  HWY_INLINE std::array<int, split_seeds> distances() const {
    alignas(64) std::int32_t squares[split_seeds];
    all_sums(
        [&](int i, int k) HWY_ATTR {
          return hn::Sub(hn::Load(Halves(), sample(i, k)), hn::Load(Halves(), sample(0, k)));
        },
        [&](int, int, hn::Vec<Halves> own) HWY_ATTR { return own; }, squares);
    std::array<int, split_seeds> roots;
    for (int i = 0; i < split_seeds; ++i)
      roots[i] = static_cast<int>(std::sqrt(static_cast<float>(squares[i])));
    return roots;
  }

  /// Computes the split between two centres. The centres are the seed patches with the indices
  /// `one` and `other`.
  HWY_INLINE void split_between(int one, int other) {
    set_split(1, 1, [&](int k) HWY_ATTR {
      return Centres{hn::Load(Halves(), sample(one, k)), hn::Load(Halves(), sample(other, k))};
    });
  }
  /// Computes the split between two sets of seed patches. The bit mask `set` selects the second
  /// set.
  HWY_INLINE void split_off(unsigned set) {
    hn::Vec<Halves> is_in[split_seeds];
    for (int i = 0; i < split_seeds; ++i)
      is_in[i] = hn::Set(Halves(), static_cast<std::int16_t>(-static_cast<int>(set >> i & 1)));
    const int count = std::popcount(set);
    set_split(split_seeds - count, count, [&](int k) HWY_ATTR {
      auto sum = hn::Zero(Halves());
      for (int i = 0; i < split_seeds; ++i)
        sum = hn::Add(sum, hn::And(hn::Load(Halves(), sample(i, k)), is_in[i]));
      return Centres{hn::Sub(total_[k], sum), sum};
    });
  }

  /// Returns a bit mask of the seed patches in the second part of the split.
  HWY_INLINE unsigned in_second() const {
    alignas(64) std::int32_t products[split_seeds];
    all_sums([&](int i, int k) HWY_ATTR { return hn::Load(Halves(), sample(i, k)); },
             [&](int, int k, hn::Vec<Halves>) HWY_ATTR { return weight_[k]; }, products);
    unsigned bits = 0;
    for (int i = 0; i < split_seeds; ++i) bits |= static_cast<unsigned>(products[i] < bound_) << i;
    return bits;
  }

  HWY_INLINE Split split() const {
    alignas(64) std::int16_t weights[patch_samples];
    for (int k = 0; k < seed_parts; ++k) hn::Store(weight_[k], Halves(), weights + k * half_lanes);
    Split split;
    for (int k = 0; k < patch_samples; ++k) split.weight[k] = static_cast<std::int8_t>(weights[k]);
    split.bound = bound_;
    return split;
  }

 private:
  HWY_INLINE std::int16_t* sample(int i, int k) { return samples_[i] + k * half_lanes; }
  HWY_INLINE const std::int16_t* sample(int i, int k) const { return samples_[i] + k * half_lanes; }

  /// One SIMD vector from each of two sums: the sums of the seed patches of the two centres.
  struct Centres {
    hn::Vec<Halves> first, second;
  };
  /// Computes the hyperplane between two centres, which are the means of `a` and of `b` seed
  /// patches. centres(k) returns SIMD vector `k` of the sum of the `a` patches, and SIMD vector `k`
  /// of the sum of the `b` patches.
  template <class F>
  HWY_INLINE void set_split(int a, int b, const F& centres) {
    const Halves d;
    const auto times_a = hn::Set(d, static_cast<std::int16_t>(a));
    const auto times_b = hn::Set(d, static_cast<std::int16_t>(b));
    hn::Vec<Halves> difference[seed_parts], middle[seed_parts];
    auto greatest = hn::Zero(d);
    // `first` is `b` times a sum of `a` samples, and `second` is `a` times a sum of `b` samples.
    // Samples are at most 255, so `first` and `second` are at most 255 * a * b. The two centres are
    // means of at most 8 seed patches in total, so a * b is at most 16. `first` and `second`
    // therefore fit in 12 bits, and their sum fits in 13 bits.
    for (int k = 0; k < seed_parts; ++k) {
      const Centres sums = centres(k);
      const auto first = hn::Mul(sums.first, times_b);
      const auto second = hn::Mul(sums.second, times_a);
      difference[k] = hn::Sub(first, second);
      middle[k] = hn::Add(first, second);
      greatest = hn::Max(greatest, hn::Abs(difference[k]));
    }
    const int shift = split_shift(hn::GetLane(hn::MaxOfLanes(d, greatest)));
    const auto half = hn::Set(d, static_cast<std::int16_t>((1 << shift) / 2));
    auto sum = hn::Zero(Sums()), more = sum;
    for (int k = 0; k < seed_parts; ++k) {
      const auto size = hn::ShiftRightSame(hn::Add(hn::Abs(difference[k]), half), shift);
      weight_[k] = hn::IfThenElse(hn::Lt(difference[k], hn::Zero(d)), hn::Neg(size), size);
      sum = hn::ReorderWidenMulAccumulate(Sums(), weight_[k], middle[k], sum, more);
    }
    bound_ = split_bound(hn::GetLane(hn::SumOfLanes(Sums(), hn::Add(sum, more))), a, b);
  }

  /// For each seed patch i, stores the dot product of two operands in to[i]. left(i, k) and
  /// right(i, k, l) return SIMD vector `k` of the left and of the right operand, where `l` is the
  /// result of left(i, k).
  template <class Left, class Right>
  static HWY_INLINE void all_sums(const Left& left, const Right& right, std::int32_t* to) {
    for (int from = 0; from < split_seeds; from += sum_lanes)
      hn::Store(sums_of([&](int i) HWY_ATTR {
                  auto sum = hn::Zero(Sums()), more = sum;
                  for (int k = 0; k < seed_parts; ++k) {
                    const auto own = left(from + i, k);
                    sum = hn::ReorderWidenMulAccumulate(Sums(), own, right(from + i, k, own), sum,
                                                        more);
                  }
                  return hn::Add(sum, more);
                }),
                Sums(), to + from);
  }

  alignas(64) std::int16_t samples_[split_seeds][patch_samples];
  hn::Vec<Halves> weight_[seed_parts], total_[seed_parts];
  std::int32_t bound_ = 0;
};

}  // namespace

std::optional<Split> split_patches(const PatchStrips& strips,
                                   std::span<const std::uint32_t> patches) {
  SeedPatches samples(strips, patches);
  const int other = second_centre(samples.distances());
  if (other < 0) return std::nullopt;
  constexpr unsigned all = (1u << split_seeds) - 1;
  samples.split_between(0, other);
  unsigned last = 0;
  for (int round = 0; round < max_split_rounds; ++round) {
    const unsigned in_second = samples.in_second();
    if (in_second == last || in_second == 0 || in_second == all) break;
    samples.split_off(in_second);
    last = in_second;
  }
  return samples.split();
}

std::size_t partition_patches(const PatchStrips& strips, std::span<std::uint32_t> patches,
                              const Split& split, std::uint32_t* scratch) {
  const Numbers d;
  const Products products(split);
  const auto bound = hn::Set(Sums(), split.bound - products.offset());
  std::uint32_t* const all = patches.data();
  const std::size_t count = patches.size();
  std::size_t first = 0, second = 0;
  const auto in_second = [&](const std::uint32_t* own) HWY_ATTR {
    const auto sums = sums_of([&](int k) HWY_ATTR { return products.of(strips, own[k]); });
    return bits_of(d, hn::RebindMask(d, hn::Lt(sums, bound)));
  };
  std::size_t i = 0;
  for (; i + sum_lanes <= count; i += sum_lanes) {
    const auto own = hn::LoadU(d, all + i);
    const unsigned seconds = in_second(all + i);
    hn::StoreU(move_to_front(own, ~seconds & all_lanes), d, all + first);
    hn::StoreU(move_to_front(own, seconds), d, scratch + second);
    first += sum_lanes - std::popcount(seconds);
    second += std::popcount(seconds);
  }
  // If the last vector is incomplete, the function copies the patches of this vector to a buffer,
  // because the elements behind the last patch belong to another cluster.
  if (const std::size_t rest = count - i; rest > 0) {
    const unsigned there = all_lanes >> (sum_lanes - rest);
    alignas(64) std::uint32_t numbers[sum_lanes] = {};
    std::copy_n(all + i, rest, numbers);
    const auto own = hn::Load(d, numbers);
    const unsigned seconds = in_second(numbers) & there, firsts = ~seconds & there;
    const std::size_t more = std::popcount(firsts);
    hn::Store(move_to_front(own, firsts), d, numbers);
    std::copy_n(numbers, more, all + first);
    hn::StoreU(move_to_front(own, seconds), d, scratch + second);
    first += more;
    second += rest - more;
  }
  std::copy_n(scratch, second, all + first);
  return first;
}

void fill_strips(const std::uint8_t* const (&rows)[4], int count, std::uint8_t* to) {
  const hn::CappedTag<std::uint8_t, 16> d;
  const int width = static_cast<int>(hn::Lanes(d));
  for (int x = 0; x < count; x += width)
    hn::StoreInterleaved4(hn::LoadU(d, rows[0] + x), hn::LoadU(d, rows[1] + x),
                          hn::LoadU(d, rows[2] + x), hn::LoadU(d, rows[3] + x), d, to + 4 * x);
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::cpu {
HWY_EXPORT(split_patches);
HWY_EXPORT(partition_patches);
HWY_EXPORT(fill_strips);
std::optional<Split> split_patches(const PatchStrips& strips,
                                   std::span<const std::uint32_t> patches) {
  return HWY_DYNAMIC_DISPATCH(split_patches)(strips, patches);
}
std::size_t partition_patches(const PatchStrips& strips, std::span<std::uint32_t> patches,
                              const Split& split, std::uint32_t* scratch) {
  return HWY_DYNAMIC_DISPATCH(partition_patches)(strips, patches, split, scratch);
}
void fill_strips(const std::uint8_t* const (&rows)[4], int count, std::uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(fill_strips)(rows, count, to);
}
}  // namespace lull::cpu
#endif

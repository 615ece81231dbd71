#pragma once
// The parameters and the exact definition of iterated linear combinations of patches (Herbreteau
// and Kervrann 2024, doi:10.1109/TIP.2024.3436651). All backends follow this definition.

// Pictures: y is the noisy picture, whose noise has the standard deviation s. x is the current
// estimate. z is a partly denoised picture; it is y at first. Iterations reduce the noise of z to a
// standard deviation of about tau * s.

// Steps: The pilot computes the first x from y. The iterations m = 1 .. M compute the next x and z,
// with tau = tau0 * (1 - m / M). The result is x of iteration M.

// Sets of planes: Planes with common groups form a set (match/guide.h, PlaneSet). A set has one
// guide. The noise of the first plane determines the parameters of the set, but each plane has its
// own s, Gram matrix and weights.

// Small planes: The side of a patch is min(side, width, height), and the step is at most the side.

// Guides: For the pilot, the matcher finds groups in the noisy picture y. For iteration 1, the
// matcher finds groups in the estimate x. For the iterations 1 + i * rematch with i = 1 ..
// matchings - 1, the matcher finds groups in the partly denoised picture z. All other iterations
// keep the previous groups.

// After iteration 1, the matcher compares patches of the partly denoised picture z. In the estimate
// x, the errors of patches of the same group are correlated.

// Frame guide: If frames have guides (Frame::guide), the matcher compares patches only in the guide
// of the frame, in the colour space of the filter. It finds groups for the pilot and for iteration
// 1, and all later iterations keep the groups of iteration 1.

// Holes: A patch that overlaps a hole (Frame::holes) can be a reference patch, but is never a
// candidate.

// Quantisation of the guide: Integer samples q make distances equal in all backends. The matcher
// converts a sample v in single precision:
//     scale = guide_levels / (high - low),
//     q = floor(min(max((v - low) * scale, 0), guide_levels) + 0.5).
// The range [low, high] is guide_range(set, format, noise, 1) in all iterations.

// Reference patches form the ReferenceGrid (match/grid.h): every step-th position and the last
// position along each axis.

// Candidates are all patches inside the picture at displacements of at most floor(window / 2)
// samples along each axis. The distance d is the sum of squared differences of the quantised
// samples.

// The candidates of a reference patch are sorted by their keys. d is the distance, and n = side^2
// is the number of samples of a patch.
//     key = min(d >> distance_shift(n), max_distance) * 2^11 + index.
// The index is 1 + the raster index of the displacement in the search window. The key of the
// reference patch is 0. Keys are unique.

// A group consists of the `group` candidates with the smallest keys, or of all candidates. The
// order of the members does not change the result.

// Pilot: The k rows of Y are the patches of a group. Yc is Y minus the mean of its rows, and Yc' is
// the transpose of Yc. C (below) contains the noise covariances of the patches. f is the floor
// (below), and 1 in 1' is the vector of ones. The pilot computes the estimates Theta * Y:
//     Q = Yc * Yc' + alpha^2 * C + f * I,
//     Theta = I - (1 + alpha^2) * C * (Q^-1 - q * q' / (1' * q)), q = Q^-1 * 1

// Covariance matrix C of a group: For white noise with the standard deviation s, C is n * s^2 * I,
// where n is the number of samples of a patch. For coloured noise, element (i, j) of C is n * s^2 *
// rho(p_i - p_j), where rho is the autocorrelation of the noise, and p_i the position of patch i.

// The floor f, a regularisation term, keeps Q positive definite in single precision. For k patches
// of n samples:
//     f = floor_share * trace(Yc * Yc') / k + n * floor_variance.
// Q contains Yc instead of Y, because this choice reduces the condition number of Q. It does not
// change the estimates, because the rows of Theta sum to 1.

// The x of the pilot is the weighted mean of the estimates Theta * Y. The weight of row i is the
// inverse of the relative standard deviation of its noise: 1 / sqrt(max(sum_j Theta_ij^2, 1 / k)),
// where k is the number of rows.

// Noise level t in iteration m: The rows of Y are the patches of a group in y, and the rows of Z
// are its patches in z. The standard deviation of the noise in y is s. The noise level of Z,
// relative to s, is
//     t = max(1 - std(Y - Z) / s, tau),
// where std is the standard deviation over all samples.

// Estimates of iteration m: The rows of X and Z are the patches of a group in x and z. The noise
// level of Z is t. The pilot's formulas for C and f apply, with Xc instead of Yc.
//     Q = Xc * Xc' + g * C + f * I, g = excess * t^2,
//     Theta = I - g * C * (Q^-1 - q * q' / (1' * q)), q = Q^-1 * 1

// The estimates are E for x and F for z. If tau is 0, r is 0.
//     E = Theta * Z, F = (1 - r) * E + r * Z, r = tau / t

// The next x and z are the weighted means of the estimates E and F, with the weights of the pilot.
// In the last iteration, tau = 0, so F equals E.

// Temporal filtering: Groups have patches of several frames (time/frame_session.h). The first frame
// contains the reference patches. The matcher finds groups for the pilot and for iteration 1.

// A step of temporal filtering (the pilot or an iteration) adds its estimates to the sums of all
// frames.

// Search windows of temporal filtering have the side `window` in the frame of the reference
// patches, and `temporal_window` in other frames. Motion vectors determine their centres.

// Candidate indices of temporal filtering continue frame by frame: the first candidate of frame f
// has the index 1 + window^2 + (f - 1) * temporal_window^2.

// Bonus of temporal filtering: The matcher reduces the distance of the candidate in the centre of a
// window by floor(bonus_share * sigma^2 * scale^2 * n), but not below 0. sigma is the noise level
// of the guide, scale is the quantisation scale, and n is the number of samples of a patch.

// Pairs of frames: Reference patches and candidates span two frames if `pairs` is true and the
// motion of their bundle (8x4 reference patches) is uniform. A patch has the same position in both
// frames. The second frame is the partner (time/frame_pairs.h) of the first. No candidate begins in
// a frame without a partner.

// A bundle (8x4 reference patches) has one acceleration (uniform_motion.h) for each neighbouring
// frame that has a partner. The motion of the bundle is uniform if at least half of these
// accelerations are 0.

// Noise of patches that span two frames: The noise covariance of two patches is a sum of two
// covariances. One is for the parts of the patches in their first frames, and the other for the
// parts in their second frames. No other term is necessary, because the noise in different frames
// is independent.

// White noise: The vector of ones is an eigenvector of Q. Its eigenvalue e is alpha^2 * n * s^2 + f
// in the pilot, and g * n * s^2 + f in an iteration. For k patches, q * q' / (1' * q) is therefore
// the matrix of ones divided by k * e, and Theta is symmetric.

#include <cstdint>

namespace lull::linear {

/// Sizes of the groups of one step, which is the pilot or an iteration. Lengths are in samples.
struct GroupSizes {
  int side = 6;             // side of a patch, 3..max_side
  int group = 48;           // k: maximum group size, 2..max_group
  int step = 4;             // distance between reference patches, 1..side
  int window = 43;          // side of the search window, odd, 3..max_window
  int temporal_window = 9;  // side of the search window in other frames, odd, up to 9
  bool pairs = false;       // patches span two frames where motion is uniform

  /// Returns the number of samples of a patch. `halves` is the number of frames that the patch
  /// spans.
  constexpr int samples(int halves = 1) const { return halves * side * side; }
};

inline constexpr int max_side = 13, max_group = 64, max_window = 43;
/// `max_pair_side` is the maximum side of a patch that spans two frames. `max_patch_samples` is the
/// maximum number of samples of a patch, in one frame or in two frames.
inline constexpr int max_pair_side = 10, max_patch_samples = 2 * max_pair_side * max_pair_side;
static_assert(max_side * max_side <= max_patch_samples);

/// The largest value of a quantised guide.
inline constexpr int guide_levels = 255;

/// Maximum of a distance in a key, after the shift by distance_shift(). The low 11 bits of the
/// 32-bit key contain the candidate index.
inline constexpr std::uint32_t index_bits = 11, max_distance = (1u << (32 - index_bits)) - 1;
/// Returns the number of bits by which the matcher shifts distances of patches with `samples`
/// samples to the right. Shifted distances reach max_distance only at root-mean-square differences
/// above guide_levels / 2.
constexpr int distance_shift(int samples) { return samples <= 64 ? 0 : samples <= 128 ? 1 : 2; }

/// Parameters of a set of planes.
struct SetParams {
  GroupSizes pilot{.side = 11, .group = 32, .step = 5};
  GroupSizes iteration;
  int iterations = 8;  // M, 1..16
  int rematch = 3;     // number of iterations between two matchings, >= 1
  int matchings = 2;   // number of matchings after that of the pilot, >= 1
  float alpha = 0.5f;  // level of the noise that the pilot assumes in its estimate, in units of s
  float tau0 = 0.95f;  // level of the noise that an iteration 0 would leave in z, in units of s
  /// The noise variance that an iteration assumes in Z, divided by the measured variance t^2
  /// (`excess` in the formulas above).
  float excess = 1;
};

inline constexpr float floor_share = 1.0f / 2048, floor_variance = 1e-5f;

/// Returns the parameters for the noise level `sigma` on the 0..255 scale
/// (docs/measurements/linear-combinations.md). `coarseness` is the sum of the autocorrelation of
/// the noise, 1 for white noise.
constexpr SetParams parameters_for(float sigma, float coarseness = 1) {
  SetParams p;
  // `excess` decreases linearly from 1.1 at noise level 20 to 1 at noise level 35.
  p.excess = sigma <= 20 ? 1.1f : sigma >= 35 ? 1.0f : 1.1f - 0.1f * (sigma - 20) / 15;
  if (sigma <= 15) {
    p.pilot.side = 9;
    p.pilot.step = 4;
    p.iterations = sigma <= 6 ? 8 : 10;
    p.matchings = 3;
  } else if (sigma > 35) {
    p.pilot.side = 13;
    p.pilot.step = 4;
    p.iteration.side = 7;
    p.iterations = 11;
    p.matchings = 3;
    p.tau0 = 0.85f;
  }
  if (coarseness > 1.5f) {  // patches of coarse noise contain few independent samples
    p.pilot.side = 13;
    p.iteration.side = coarseness > 4 ? 10 : 8;
    p.iterations = 6;
    p.pilot.group = 48;
    p.alpha = 0.2f;
  }
  return p;
}

/// Number of iterations of temporal filtering. The number is the same at all noise levels, and
/// therefore the same for all planes of a frame.
inline constexpr int iterations_over_time = 3;
/// Motion bonus, in units of the noise variance. The matcher subtracts the bonus from the mean
/// squared difference of the patch to which the motion vector points.
inline constexpr float bonus_share = 0.6f;

}  // namespace lull::linear

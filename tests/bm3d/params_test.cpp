#include "bm3d/params.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>

#include "bm3d/bm3d.h"
#include "bm3d/names.h"
#include "bm3d/phase_plan.h"
#include "core/error.h"

namespace lull::bm3d {
namespace {

/// Correlation between horizontally adjacent samples.
std::shared_ptr<const Autocorrelation> weak_correlation(float value) {
  auto correlation = std::make_shared<Autocorrelation>();
  (*correlation)[lag_index(0, 0)] = 1;
  (*correlation)[lag_index(1, 0)] = (*correlation)[lag_index(-1, 0)] = value;
  return correlation;
}

TEST(MakeParams, GivesValidProfilesAtAnyNoise) {
  for (const auto& [profile, name] : names_of<Profile>)
    for (const float sigma :
         {0.0f, 0.5f, 5.0f, 10.0f, 25.0f, 40.0f, 41.0f, 50.0f, 100.0f, 255.0f}) {
      const Params params = make_params(profile, {sigma, 2 * sigma, 0});
      EXPECT_NO_THROW(validate(params)) << name << " at " << sigma;
      EXPECT_EQ(params.noise.sigma(1), 2 * sigma);
      // Two patches of equal content have a distance of 2 sigma^2 through the noise alone.
      if (profile == Profile::paper) continue;
      EXPECT_GT(params.hard.tau, 2 * sigma * sigma) << name << " at " << sigma;
    }
}

TEST(MakeParams, PaperProfileMatchesTableOne) {
  const Params p = make_params(Profile::paper, {25, 25, 25});
  for (const PhaseParams& phase : {p.hard, p.wiener}) {
    EXPECT_EQ(phase.window, 39);
    EXPECT_EQ(phase.step, 3);
    EXPECT_EQ(phase.transform, Transform::dct);
    EXPECT_EQ(phase.group_transform, GroupTransform::haar) << "not in the table, and better";
    EXPECT_EQ(phase.kaiser, 0);
  }
  EXPECT_EQ(p.hard.group, 16);
  EXPECT_EQ(p.wiener.group, 32);
  EXPECT_EQ(p.hard.tau, 2500);
  EXPECT_EQ(p.wiener.tau, 400);
  EXPECT_EQ(p.lambda, 2.7f);
  EXPECT_EQ(p.lambda_mean, 1);
  EXPECT_EQ(p.guide_noise, 0);
  EXPECT_EQ(p.mu2, 1);
}

// Kept groups and sparse searches are useful only where patches are compared in samples with white
// noise.
TEST(MakeParams, SearchesForEveryReferencePatchInColouredNoiseAndDepthMaps) {
  NoiseModel coloured({5, 5, 5});
  coloured.plane(0).correlation = weak_correlation(0.5f);
  for (const auto& [profile, name] : names_of<Profile>)
    for (const Params& params :
         {make_params(profile, coloured), make_depth_params(profile, NoiseModel({5, 0, 0}))}) {
      EXPECT_EQ(params.kept, 0) << name;
      EXPECT_EQ(params.search_step, 0) << name;
    }
}

// Sessions do exactly what a profile requests; no value has to be changed first.
TEST(MakeParams, ProfilesKeepTheirSearchUnchanged) {
  for (const auto& [profile, name] : names_of<Profile>)
    for (const int temporal : {0, 2, 4})
      for (const float sigma : {5.0f, 20.0f, 30.0f, 60.0f}) {
        const Params params = make_params(profile, {sigma, sigma, sigma}, temporal);
        Params searching = params;
        search_where_needed(searching);
        EXPECT_EQ(searching.kept, params.kept) << name << " at " << sigma;
        EXPECT_EQ(searching.same_groups, params.same_groups) << name << " at " << sigma;
        EXPECT_EQ(searching.search_step, params.search_step) << name << " at " << sigma;
        // Phases can share groups only if the groups are kept.
        if (params.kept == 0) {
          EXPECT_EQ(params.same_groups, SameGroups::none) << name << " at " << sigma;
        }
      }
}

struct Change {
  const char* what;
  void (*apply)(Params&);
};
constexpr Change needing_a_search[] = {
    {"clusters", [](Params& p) { p.hard.clusters = p.wiener.clusters = ClusterParams{}; }},
    {"clusters of the first phase", [](Params& p) { p.hard.clusters = ClusterParams{}; }},
    {"clusters of the second phase", [](Params& p) { p.wiener.clusters = ClusterParams{}; }},
    {"a guide", [](Params& p) { p.guided = true; }},
    {"holes", [](Params& p) { p.holes = true; }},
};

// A caller who changes one parameter of a profile must not get an error about another parameter
// that the profile set.
TEST(SearchWhereNeeded, MakesEverySingleChangeValid) {
  for (const auto& [what, change] : needing_a_search)
    for (const Profile profile : {Profile::fast, Profile::balanced, Profile::high}) {
      Params params = make_params(profile, {20, 20, 20}, 1);
      change(params);
      EXPECT_THROW(validate(params), InvalidArgument) << what;
      EXPECT_NE(open(params, {.width = 24, .height = 24}, {}), nullptr) << what;
      EXPECT_NE(open_repeat_finder(params, {.width = 24, .height = 24}), nullptr) << what;
      search_where_needed(params);
      EXPECT_EQ(params.kept, 0) << what;
      EXPECT_EQ(params.search_step, 0) << what;
      EXPECT_NO_THROW(validate(params)) << what;
    }
}

TEST(SearchWhereNeeded, KeepsGroupsWhenOnlyTheFirstPhaseMustSearch) {
  Params params = make_params(Profile::balanced, {20, 20, 20});
  params.same_groups = SameGroups::none;
  params.hard.step = 2;
  params.search_step = 4;
  EXPECT_NO_THROW(validate(params));
  Params coloured = params;
  coloured.noise.plane(0).correlation = weak_correlation(0.5f);
  Params dense = params;
  dense.hard.step = 4;  // no reference patch lies between those that search
  for (Params* needing : {&coloured, &dense}) {
    EXPECT_THROW(validate(*needing), InvalidArgument);
    search_where_needed(*needing);
    EXPECT_EQ(needing->search_step, 0);
    EXPECT_EQ(needing->kept, params.kept);
    EXPECT_NO_THROW(validate(*needing));
  }
}

TEST(SearchWhereNeeded, LimitsRefinementWindowsInsteadOfSearching) {
  Params params = make_params(Profile::high, {20, 20, 20}, 1);
  params.hard.step = 1;
  params.wiener.step = 7;
  params.hard.refine_window = 7;
  params.hard.window = 5;  // smaller than the refinement window
  params.wiener.temporal_window = 1;
  EXPECT_THROW(validate(params), InvalidArgument);
  search_where_needed(params);
  EXPECT_EQ(params.kept, 16);
  EXPECT_EQ(params.search_step, 4);
  EXPECT_EQ(params.hard.refine_window, 5);
  EXPECT_EQ(params.wiener.refine_temporal_window, 1);
  EXPECT_NO_THROW(validate(params));
}

// In the second phase, reference patches have no kept group if the grid differs from that of the
// first phase.
TEST(SearchWhereNeeded, PropagatesGroupsWhenGridsDiffer) {
  const auto changed = [](void (*change)(Params&)) {
    Params params = make_params(Profile::fast, {20, 20, 20});
    change(params);
    EXPECT_THROW(validate(params), InvalidArgument);
    search_where_needed(params);
    EXPECT_NO_THROW(validate(params));
    EXPECT_EQ(params.kept, 16);
    return params.same_groups != SameGroups::none;
  };
  EXPECT_FALSE(changed([](Params& p) { p.wiener.step = 5; }));
  EXPECT_FALSE(changed([](Params& p) { p.wiener.window = 11; }));
  EXPECT_FALSE(changed([](Params& p) { p.search_step = 12; }));
}

TEST(KeptGroups, AreLargeEnoughForTheNextPhase) {
  Params params = make_params(Profile::fast, {20, 20, 20});
  params.wiener.group = 32;
  params.hard.temporal_window = 11;  // unused without temporal filtering
  EXPECT_NO_THROW(validate(params));
  const auto kept = [&] {
    return plan_phase(Phase::first, params, {.width = 64, .height = 64}).sets.at(0).kept;
  };
  EXPECT_EQ(kept(), 32);
  params.wiener.group = 8;
  EXPECT_EQ(kept(), 16);
}

// Without temporal filtering, chroma that is smaller than luma has its own guide in each phase.
TEST(KeptGroups, AreReusedForSmallChromaOnlyIfAllPlanesReuseThem) {
  const FrameFormat small{.width = 64, .height = 64, .layout = Layout::yuv, .chroma_shift_x = 1};
  const auto second = [](const Params& params, const FrameFormat& format) {
    return plan_phase(Phase::second, params, format);
  };
  for (const auto& [profile, same] : {std::pair{Profile::fast, true}, {Profile::balanced, false}}) {
    const PhasePlan plan = second(make_params(profile, {20, 20, 20}), small);
    ASSERT_EQ(plan.sets.size(), 2);
    EXPECT_TRUE(plan.reuses_groups(plan.sets[0]));
    EXPECT_EQ(plan.reuses_groups(plan.sets[1]), same);
    EXPECT_EQ(plan.propagates(plan.sets[1]), !same);
  }
  const PhasePlan searching = second(make_params(Profile::high, {20, 20, 20}), small);
  EXPECT_FALSE(searching.reuses_groups(searching.sets[1]) ||
               searching.propagates(searching.sets[1]));
  // Chroma as large as luma shares its groups. With temporal filtering all planes propagate.
  FrameFormat large = small;
  large.chroma_shift_x = 0;
  const PhasePlan together = second(make_params(Profile::balanced, {20, 20, 20}), large);
  ASSERT_EQ(together.sets.size(), 1);
  EXPECT_TRUE(together.reuses_groups(together.sets[0]));
  const PhasePlan over_time = second(make_params(Profile::fast, {20, 20, 20}, 2), small);
  for (const PlaneSet& set : over_time.sets) EXPECT_TRUE(over_time.propagates(set));
}

TEST(MakeParams, AdaptsMu2ToTheNoiseCorrelation) {
  NoiseModel noise(std::array<float, 3>{10, 10, 10});
  const float white = make_params(Profile::high, noise).mu2;
  noise.plane(0).correlation = weak_correlation(0.5f);
  EXPECT_GT(make_params(Profile::high, noise).mu2, white);
  EXPECT_EQ(make_params(Profile::paper, noise).mu2, 1) << "the paper's";
  noise.plane(0).correlation = weak_correlation(-0.5f);
  EXPECT_LT(make_params(Profile::high, noise).mu2, white) << "less of it is left";
}

TEST(Validate, NamesTheParameterThatIsOutOfRange) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  struct Case {
    std::string expected;
    std::function<void(Params&)> damage;
  };
  const Case cases[] = {
      {"sigma = -1", [](Params& p) { p.noise.plane(0).sigma = -1; }},
      {"sigma = nan", [](Params& p) { p.noise.plane(2).sigma = nan; }},
      {"sigma = inf", [](Params& p) { p.noise.plane(1).sigma = infinity; }},
      {"window of the first phase = 40", [](Params& p) { p.hard.window = 40; }},
      {"window of the second phase = 129", [](Params& p) { p.wiener.window = 129; }},
      {"window of the first phase = -1", [](Params& p) { p.hard.window = -1; }},
      {"group of the first phase = 12", [](Params& p) { p.hard.group = 12; }},
      {"group of the second phase = 64", [](Params& p) { p.wiener.group = 64; }},
      {"group of the second phase = 0", [](Params& p) { p.wiener.group = 0; }},
      {"step of the first phase = 0", [](Params& p) { p.hard.step = 0; }},
      {"step of the second phase = 9", [](Params& p) { p.wiener.step = 9; }},
      {"tau of the first phase = 0", [](Params& p) { p.hard.tau = 0; }},
      {"tau of the second phase = nan", [](Params& p) { p.wiener.tau = nan; }},
      {"kaiser of the first phase = 4.5", [](Params& p) { p.hard.kaiser = 4.5f; }},
      {"kaiser of the second phase = nan", [](Params& p) { p.wiener.kaiser = nan; }},
      {"near-window of the first phase = 4", [](Params& p) { p.hard.refine_window = 4; }},
      {"near-window of the second phase = 27", [](Params& p) { p.wiener.refine_window = 27; }},
      {"near-temporal-window of the first phase = 11",
       [](Params& p) { p.hard.refine_temporal_window = 11; }},
      {"near-temporal-window of the second phase = -1",
       [](Params& p) { p.wiener.refine_temporal_window = -1; }},
      {"search-step = 5", [](Params& p) { p.search_step = p.hard.step; }},
      {"search-step = 17", [](Params& p) { p.search_step = 17; }},
      {"patches kept for the second phase = 24", [](Params& p) { p.kept = 24; }},
      {"patches kept for the second phase = 64", [](Params& p) { p.kept = 64; }},
      {"lambda = -0.5", [](Params& p) { p.lambda = -0.5f; }},
      {"lambda-mean = -1", [](Params& p) { p.lambda_mean = -1; }},
      {"guide-noise = 1.5", [](Params& p) { p.guide_noise = 1.5f; }},
      {"mu2 = 0", [](Params& p) { p.mu2 = 0; }},
      {"phases = 3", [](Params& p) { p.phases = 3; }},
      {"width of a batch = 15", [](Params& p) { p.batch.width = 15; }},
      {"height of a batch = 0", [](Params& p) { p.batch.height = 0; }},
  };
  for (const Case& c : cases) {
    Params params = make_params(Profile::balanced, {20, 20, 20});
    c.damage(params);
    try {
      validate(params);
      ADD_FAILURE() << "accepted " << c.expected;
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), ::testing::StartsWith(c.expected + " (must be "));
      EXPECT_THAT(error.what(), ::testing::HasSubstr("); "));
    }
  }
}

TEST(EnumNames, ParseInvertsName) {
  for (const auto& [value, text] : names_of<Transform>) {
    EXPECT_EQ(lull::name_of(value), text);
    EXPECT_EQ(parse_name<Transform>(text), value);
  }
  EXPECT_EQ(parse_name<Profile>("high"), Profile::high);
  EXPECT_EQ(parse_name<GroupTransform>("wht"), GroupTransform::wht);
  EXPECT_EQ(parse_name<Profile>("High"), std::nullopt);
  EXPECT_EQ(parse_name<Transform>(""), std::nullopt);
}

}  // namespace
}  // namespace lull::bm3d

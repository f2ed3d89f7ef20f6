#include "common/sharding/shard_plan.h"

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/limits.h"
#include "common/tensor/shape.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<VariableSpec> Variables(const std::vector<Shape>& shapes) {
  std::vector<VariableSpec> variables;
  for (size_t i = 0; i < shapes.size(); ++i) {
    variables.push_back({absl::StrCat("v", i), shapes[i], nullptr, {}});
  }
  return variables;
}

// The tutorial's CNN: 347,146 parameters.
std::vector<VariableSpec> TutorialVariables() {
  return Variables({{3, 3, 1, 32}, {32}, {5408, 64}, {64}, {64, 10}, {10}});
}

v1::Partitioner MakePartitioner(v1::Partitioner::Kind kind, uint64_t bytes,
                                uint32_t parts) {
  v1::Partitioner partitioner;
  partitioner.set_kind(kind);
  partitioner.set_bytes(bytes);
  partitioner.set_parts(parts);
  return partitioner;
}

ShardPlan MakePlan(const std::vector<VariableSpec>& variables, int shards,
                   const v1::Partitioner& partitioner = {}) {
  auto plan = ShardPlan::Make(variables, shards, partitioner, 4);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

std::vector<Part> PartsOf(const ShardPlan& plan, int variable) {
  std::vector<Part> parts;
  for (const Part& part : plan.parts()) {
    if (part.variable == variable) parts.push_back(part);
  }
  return parts;
}

std::vector<int64_t> Loads(const ShardPlan& plan) {
  std::vector<int64_t> loads(plan.shard_count(), 0);
  for (const Part& part : plan.parts()) loads[part.shard] += part.count;
  return loads;
}

// Everything that holds for every plan.
void CheckInvariants(const ShardPlan& plan,
                     const std::vector<VariableSpec>& variables) {
  // Each variable lies in one bucket, whole and in order; parts are whole rows.
  int64_t total = 0;
  for (size_t v = 0; v < variables.size(); ++v) {
    const Shape& shape = variables[v].shape;
    const int64_t row = shape.empty() ? 1 : NumElements(shape) / shape[0];
    const VariableLocation location =
        plan.layout().location(static_cast<int>(v));
    int64_t next = 0;
    for (const Part& part : PartsOf(plan, static_cast<int>(v))) {
      EXPECT_EQ(part.begin, next);
      EXPECT_GT(part.count, 0);
      EXPECT_EQ(part.begin % row, 0);
      EXPECT_EQ(part.bucket, location.bucket);
      EXPECT_EQ(part.bucket_offset, location.offset + part.begin);
      next += part.count;
    }
    EXPECT_EQ(next, NumElements(shape)) << variables[v].name;
    total += next;
  }
  EXPECT_EQ(plan.layout().element_count(), total);

  // Buckets follow backward, and are small unless one variable is large.
  std::vector<int> order;
  for (const Bucket& bucket : plan.layout().buckets()) {
    order.insert(order.end(), bucket.variables.begin(), bucket.variables.end());
    if (bucket.variables.size() > 1) {
      EXPECT_LE(bucket.count * 4, limits::kBucketBytes);
    }
  }
  std::vector<int> backward(variables.size());
  for (size_t i = 0; i < backward.size(); ++i) {
    backward[i] = static_cast<int>(backward.size() - 1 - i);
  }
  EXPECT_EQ(order, backward);

  // The blocks of all shards cover each element of each bucket once, and a
  // block's parts lie in it one after the other.
  std::vector<std::tuple<int, int64_t, int64_t>> covered;
  size_t parts_in_blocks = 0;
  for (int s = 0; s < plan.shard_count(); ++s) {
    for (const ShardPlan::Chunk& chunk : plan.chunks(s)) {
      int index = 0;
      int64_t count = 0;
      for (const Block& block : chunk.blocks) {
        EXPECT_EQ(block.shard, s);
        EXPECT_EQ(block.index, index++);
        count += block.count;
        covered.emplace_back(block.bucket, block.bucket_offset, block.count);
        int64_t next = block.bucket_offset;
        for (int p : block.parts) {
          const Part& part = plan.parts()[p];
          EXPECT_EQ(part.shard, s);
          EXPECT_EQ(part.bucket, block.bucket);
          EXPECT_EQ(part.bucket_offset, next);
          next += part.count;
        }
        EXPECT_EQ(next, block.bucket_offset + block.count);
        parts_in_blocks += block.parts.size();
      }
      EXPECT_GT(index, 0);
      EXPECT_EQ(chunk.count, count);
    }
  }
  EXPECT_EQ(parts_in_blocks, plan.parts().size());
  std::sort(covered.begin(), covered.end());
  size_t next_block = 0;
  for (size_t b = 0; b < plan.layout().buckets().size(); ++b) {
    int64_t next = 0;
    while (next_block < covered.size() &&
           std::get<0>(covered[next_block]) == static_cast<int>(b)) {
      EXPECT_EQ(std::get<1>(covered[next_block]), next);
      next += std::get<2>(covered[next_block++]);
    }
    EXPECT_EQ(next, plan.layout().buckets()[b].count);
  }
}

TEST(ShardPlanTest, OneShardHoldsTheTutorialModelInOneBlock) {
  const auto variables = TutorialVariables();
  const ShardPlan plan = MakePlan(variables, 1);
  CheckInvariants(plan, variables);
  EXPECT_EQ(plan.layout().element_count(), 347'146);
  ASSERT_EQ(plan.chunks(0).size(), 1u);
  ASSERT_EQ(plan.chunks(0)[0].blocks.size(), 1u);
  EXPECT_EQ(plan.chunks(0)[0].blocks[0].count, 347'146);
  EXPECT_EQ(plan.parts().size(), variables.size());
}

TEST(ShardPlanTest, TwoShardsShareTheTutorialModelEvenly) {
  const auto variables = TutorialVariables();
  const ShardPlan plan = MakePlan(variables, 2);
  CheckInvariants(plan, variables);
  const std::vector<int64_t> loads = Loads(plan);
  EXPECT_LE(std::abs(loads[0] - loads[1]), 64);
  EXPECT_EQ(PartsOf(plan, 2).size(), 2u);
  // The variable on both shards is a bucket of its own.
  EXPECT_THAT(
      plan.layout().buckets()[plan.layout().location(2).bucket].variables,
      ElementsAre(2));
}

TEST(ShardPlanTest, LargeVariablesThatDoNotDivideBalance) {
  // Three equal variables on four shards: none can be left whole.
  const auto variables = Variables({{3000, 10}, {3000, 10}, {3000, 10}});
  const ShardPlan plan = MakePlan(variables, 4);
  CheckInvariants(plan, variables);
  EXPECT_THAT(Loads(plan), ElementsAre(22'500, 22'500, 22'500, 22'500));
}

TEST(ShardPlanTest, SmallVariablesStayWholeAndGoToTheEmptiestShard) {
  const auto variables = Variables({{30}, {40}, {50}, {60}, {20}});
  const ShardPlan plan = MakePlan(variables, 2);
  CheckInvariants(plan, variables);
  EXPECT_EQ(plan.parts().size(), 5u);
  EXPECT_THAT(Loads(plan), ElementsAre(110, 90));
}

TEST(ShardPlanTest, MoreShardsThanRowsLeaveShardsEmpty) {
  const auto variables = Variables({{2, 8}, {}});
  const ShardPlan plan = MakePlan(variables, 8);
  CheckInvariants(plan, variables);
  const std::vector<int64_t> loads = Loads(plan);
  EXPECT_EQ(std::count_if(loads.begin(), loads.end(),
                          [](int64_t load) { return load > 0; }),
            3);
  int empty = 0;
  for (int s = 0; s < 8; ++s) empty += plan.chunks(s).empty() ? 1 : 0;
  EXPECT_EQ(empty, 5);
}

TEST(ShardPlanTest, ChunksAreBounded) {
  // Five times as large as a chunk, and seven rows more; then small ones, which
  // lie before it.
  const int64_t rows = 5 * (limits::kChunkBytes / 4 / 1000) + 7;
  const auto variables = Variables({{rows, 1000}, {100}, {100}});
  const ShardPlan plan = MakePlan(variables, 1);
  CheckInvariants(plan, variables);
  ASSERT_GE(plan.chunks(0).size(), 6u);
  for (const ShardPlan::Chunk& chunk : plan.chunks(0)) {
    EXPECT_LE(chunk.count * 4, limits::kChunkBytes);
  }
  EXPECT_EQ(plan.chunks(0).back().count, 7'000);
}

TEST(ShardPlanTest, AJobSaysHowLargeChunksAre) {
  v1::Partitioner partitioner;
  partitioner.set_chunk_bytes(4096);
  const auto variables = Variables({{100, 100}, {10}, {3, 2000}});
  const auto plan = ShardPlan::Make(variables, 2, partitioner, 4);
  ASSERT_TRUE(plan.ok()) << plan.status();
  CheckInvariants(*plan, variables);
  for (int shard = 0; shard < 2; ++shard) {
    for (const ShardPlan::Chunk& chunk : plan->chunks(shard)) {
      // But for a row that is larger.
      EXPECT_TRUE(chunk.count <= 1024 || chunk.count == 2000) << chunk.count;
    }
  }
}

bool MayCutUntrained(const VariableSpec& variable) {
  return !variable.is_trained();
}

TEST(ShardPlanTest, VariablesStayWholeForOptimizersThatNeedThem) {
  v1::Partitioner partitioner;
  partitioner.set_chunk_bytes(4096);
  const auto variables = Variables({{100, 100}, {10}, {3, 2000}, {2000}});
  const auto plan =
      ShardPlan::Make(variables, 2, partitioner, 4, MayCutUntrained);
  ASSERT_TRUE(plan.ok()) << plan.status();
  CheckInvariants(*plan, variables);
  EXPECT_EQ(plan->parts().size(), variables.size());
  // The emptiest shard takes the next.
  EXPECT_THAT(Loads(*plan), ElementsAre(10'000, 8'010));
}

// The shard of a large variable that stays whole gets nothing of those that are
// cut.
TEST(ShardPlanTest, WhatIsCutFillsTheShardsThatAreLeft) {
  auto variables = Variables({{60}, {50}, {4}});
  variables[1].update = VariableUpdate::kNone;
  const auto plan = ShardPlan::Make(variables, 3, {}, 4, MayCutUntrained);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(Loads(*plan), ElementsAre(60, 27, 27));
}

// Nobody updates them.
TEST(ShardPlanTest, FrozenVariablesAreCutAllTheSame) {
  auto variables = Variables({{100, 8}, {10}});
  variables[0].update = VariableUpdate::kNone;
  const auto plan = ShardPlan::Make(variables, 4, {}, 4, MayCutUntrained);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(PartsOf(*plan, 0).size(), 4u);
}

TEST(ShardPlanTest, RefusesToCutWhatIsToStayWhole) {
  auto variables = Variables({{4, 3}, {1}});
  variables[0].name = "dense/kernel";
  const auto make = [&](uint32_t parts) {
    return ShardPlan::Make(
               variables, 2,
               MakePartitioner(v1::Partitioner::KIND_FIXED, 0, parts), 4,
               MayCutUntrained)
        .status();
  };
  EXPECT_TRUE(make(1).ok()) << make(1);
  EXPECT_EQ(make(4).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(make(4).message(),
            "the partitioner cuts variable dense/kernel into 4 parts, but the "
            "optimizer, or its constraint, updates it as a whole; expected no "
            "partitioner, or "
            "one that leaves it whole");
}

TEST(ShardPlanTest, RefusesTooManyChunks) {
  v1::Partitioner partitioner;
  partitioner.set_chunk_bytes(4);
  const auto variables = Variables({{limits::kMaxChunks + 1, 1}});
  EXPECT_EQ(ShardPlan::Make(variables, 1, partitioner, 4).status().message(),
            "partitioner.chunk_bytes 4 cuts a shard into 100001 chunks; "
            "expected at most 100000");
}

// Before it makes them: 2^32 parts would take 200 GB.
TEST(ShardPlanTest, RefusesTooManyParts) {
  v1::Partitioner partitioner;
  partitioner.set_chunk_bytes(1024);
  const auto variables = Variables({{int64_t{1} << 38, 4}});
  const absl::Status status =
      ShardPlan::Make(variables, 1, partitioner, 4).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "partitioner cuts the variables into at least 4294967296 parts; "
            "at most 4194304 are possible");
}

TEST(ShardPlanTest, FrozenVariablesComeLastInChunksOfTheirOwn) {
  auto variables = Variables({{20}, {30}, {40}, {50}, {60}});
  variables[0].update = VariableUpdate::kNone;
  variables[2].update = VariableUpdate::kDelta;
  variables[4].update = VariableUpdate::kNone;
  const ShardPlan plan = MakePlan(variables, 1);
  ASSERT_EQ(plan.layout().buckets().size(), 3u);
  EXPECT_THAT(plan.layout().buckets()[0].variables, ElementsAre(2));
  EXPECT_THAT(plan.layout().buckets()[1].variables, ElementsAre(3, 1));
  EXPECT_THAT(plan.layout().buckets()[2].variables, ElementsAre(4, 0));
  EXPECT_EQ(plan.layout().updated_buckets().size(), 2u);
  EXPECT_EQ(plan.layout().element_count(), 200);
  ASSERT_EQ(plan.chunks(0).size(), 2u);
  EXPECT_FALSE(plan.chunks(0)[0].is_frozen);
  EXPECT_EQ(plan.chunks(0)[0].count, 120);
  EXPECT_TRUE(plan.chunks(0)[1].is_frozen);
  EXPECT_EQ(plan.chunks(0)[1].count, 80);
}

TEST(ShardPlanTest, FixedPartitionerCutsNearlyEqualRows) {
  const auto variables = Variables({{10, 3}, {2}});
  const ShardPlan plan = MakePlan(
      variables, 2, MakePartitioner(v1::Partitioner::KIND_FIXED, 0, 4));
  CheckInvariants(plan, variables);
  std::vector<int64_t> rows;
  std::vector<int> shards;
  for (const Part& part : PartsOf(plan, 0)) {
    rows.push_back(part.count / 3);
    shards.push_back(part.shard);
  }
  EXPECT_THAT(rows, ElementsAre(3, 3, 2, 2));
  EXPECT_THAT(shards, ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(PartsOf(plan, 1).size(), 2u);
}

TEST(ShardPlanTest, MinSizePartitionerLeavesPartsAtLeastThatLarge) {
  // 256 KiB is 65,536 float32: 346,112 elements make five parts.
  const auto variables = TutorialVariables();
  const ShardPlan plan = MakePlan(
      variables, 2, MakePartitioner(v1::Partitioner::KIND_MIN_SIZE, 0, 0));
  CheckInvariants(plan, variables);
  EXPECT_EQ(PartsOf(plan, 2).size(), 5u);
  for (const Part& part : PartsOf(plan, 2)) {
    EXPECT_GE(part.count * 4, 256 << 10);
  }
  EXPECT_EQ(PartsOf(plan, 0).size(), 1u);
}

TEST(ShardPlanTest, MaxSizePartitionerLeavesPartsAtMostThatLarge) {
  const auto variables = TutorialVariables();
  const ShardPlan plan =
      MakePlan(variables, 3,
               MakePartitioner(v1::Partitioner::KIND_MAX_SIZE, 256 << 10, 0));
  CheckInvariants(plan, variables);
  // 1,024 of 5,408 rows fit.
  EXPECT_EQ(PartsOf(plan, 2).size(), 6u);
  for (const Part& part : plan.parts()) EXPECT_LE(part.count * 4, 256 << 10);
}

TEST(ShardPlanTest, RandomModelsKeepEveryPromise) {
  std::mt19937 random(7);
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<Shape> shapes(pick(1, 20));
    for (Shape& shape : shapes) {
      shape.resize(pick(0, 3));
      for (int64_t& size : shape) size = pick(1, 1 << pick(0, 7));
    }
    const auto variables = Variables(shapes);
    const int shards = pick(1, 9);
    const auto kind = static_cast<v1::Partitioner::Kind>(pick(0, 3));
    const v1::Partitioner partitioner =
        MakePartitioner(kind, pick(100, 100'000), pick(1, 20));
    SCOPED_TRACE(absl::StrCat("round ", round));
    const ShardPlan plan = MakePlan(variables, shards, partitioner);
    CheckInvariants(plan, variables);

    const ShardPlan again = MakePlan(variables, shards, partitioner);
    ASSERT_EQ(plan.parts().size(), again.parts().size());
    for (size_t p = 0; p < plan.parts().size(); ++p) {
      EXPECT_EQ(plan.parts()[p].shard, again.parts()[p].shard);
      EXPECT_EQ(plan.parts()[p].begin, again.parts()[p].begin);
    }
    if (kind == v1::Partitioner::KIND_UNSPECIFIED) {
      // No shard holds more than its share, plus what cannot be cut: a small
      // variable, or the row that a cut is rounded to.
      int64_t slack = 0;
      for (const Shape& shape : shapes) {
        const int64_t count = NumElements(shape);
        const bool small = count <= plan.layout().element_count() / shards;
        slack =
            std::max(slack, small || shape.empty() ? count : count / shape[0]);
      }
      const std::vector<int64_t> loads = Loads(plan);
      EXPECT_LE(*std::max_element(loads.begin(), loads.end()),
                plan.layout().element_count() / shards + 1 + slack);
    }
  }
}

TEST(ShardPlanTest, RefusesWhatCannotBePlaced) {
  const auto variables = TutorialVariables();
  EXPECT_EQ(ShardPlan::Make({}, 1, {}, 4).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ShardPlan::Make(variables, 0, {}, 4).status().code(),
            absl::StatusCode::kInvalidArgument);

  const auto error = [&](v1::Partitioner::Kind kind, uint64_t bytes,
                         uint32_t parts) {
    const absl::Status status =
        ShardPlan::Make(variables, 1, MakePartitioner(kind, bytes, parts), 4)
            .status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_THAT(error(v1::Partitioner::KIND_MAX_SIZE, 0, 0),
              HasSubstr("partitioner.bytes"));
  EXPECT_THAT(error(v1::Partitioner::KIND_FIXED, 0, 0),
              HasSubstr("partitioner.parts"));

  const auto tall = Variables({{1'000'000}});
  const absl::Status too_many =
      ShardPlan::Make(tall, 1,
                      MakePartitioner(v1::Partitioner::KIND_MAX_SIZE, 1, 0), 4)
          .status();
  EXPECT_EQ(too_many.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(too_many.message()), HasSubstr("v0"));

  const absl::Status empty =
      ShardPlan::Make(Variables({{3, 0}}), 1, {}, 4).status();
  EXPECT_EQ(empty.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(empty.message()), HasSubstr("(3, 0)"));
}

}  // namespace
}  // namespace paceline

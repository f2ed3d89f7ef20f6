#include "ps_server/worker_entries.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(WorkerEntriesTest, EntriesOnWhichAllChunksAgreeAreStoredOnce) {
  const std::vector<WorkerEntries> chunks = {{{"clock", "7"}, {"only", "a"}},
                                             {{"clock", "7"}}};
  const SafetensorsMetadata joined = JoinWorkerEntries(chunks);
  EXPECT_THAT(joined, UnorderedElementsAre(Pair("clock", "7"),
                                           Pair("chunk/0/only", "a")));
  EXPECT_EQ(SplitWorkerEntries(joined, 2), chunks);
}

TEST(WorkerEntriesTest, ChunksThatDisagreeComeBackAsTheyWere) {
  std::vector<WorkerEntries> chunks;
  for (int i = 0; i < 12; ++i) chunks.push_back({{"clock", std::to_string(i)}});
  EXPECT_EQ(SplitWorkerEntries(JoinWorkerEntries(chunks), 12), chunks);
}

TEST(WorkerEntriesTest, NoChunkHasNoEntries) {
  EXPECT_TRUE(JoinWorkerEntries({}).empty());
  EXPECT_TRUE(SplitWorkerEntries({{"clock", "7"}}, 0).empty());
}

TEST(WorkerEntriesTest, EntriesOfOtherChunksAreLeftOut) {
  const SafetensorsMetadata joined = {{"format", "paceline"},
                                      {"chunk/2/clock", "7"},
                                      {"chunk/-1/clock", "7"},
                                      {"chunk/first/clock", "7"},
                                      {"chunk/", "7"}};
  const WorkerEntries rest = {{"format", "paceline"}};
  EXPECT_THAT(SplitWorkerEntries(joined, 2), ElementsAre(rest, rest));
}

}  // namespace
}  // namespace paceline

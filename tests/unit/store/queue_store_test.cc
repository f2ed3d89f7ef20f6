#include "coordinator/store/queue_store.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/unit/store/store_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class QueueStoreTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    Reopen();
  }
  void Reopen() {
    store_.reset();
    auto store = QueueStore::Open(path());
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  std::string path() const { return Path("queue"); }

  StoredQueue Load() {
    auto stored = store_->Load();
    EXPECT_TRUE(stored.ok()) << stored.status();
    return stored.ok() ? *std::move(stored) : StoredQueue{};
  }
  void Apply(std::vector<QueueAction> actions) {
    EXPECT_EQ(store_->Apply(actions), absl::OkStatus());
  }
  std::vector<std::string> OutputsOf(const std::string& job) {
    const auto files = store_->Outputs(job);
    EXPECT_TRUE(files.ok()) << files.status();
    std::vector<std::string> outputs;
    for (const v1::JobFile& file : files.value()) {
      outputs.push_back(absl::StrCat(file.path(), " ", file.sha256(), " ",
                                     file.size_bytes()));
    }
    return outputs;
  }

  std::unique_ptr<QueueStore> store_;
};

TEST_F(QueueStoreTest, BeginsEmpty) {
  const StoredQueue stored = Load();
  EXPECT_THAT(stored.jobs, IsEmpty());
  EXPECT_THAT(stored.daemons, IsEmpty());
  EXPECT_EQ(stored.last_number, 0);
}

TEST_F(QueueStoreTest, RemembersWhatWasStored) {
  v1::JobRecord job = JobNamed("a-1", 1);
  job.mutable_submission()->set_user("ann");
  Apply({StoreJob{job}, StoreJob{JobNamed("b-2", 2)},
         StoreDaemon{DaemonNamed("rack", 5)}, StoreLastNumber{2}});
  Apply({StoreJob{JobNamed("b-2", 7)}, StoreDaemon{DaemonNamed("old", 6)}});
  Apply({RemoveDaemon{"old"}, RemoveJob{"none"}, RemoveDaemon{"none"},
         OrdersChanged{"rack"}});
  Reopen();
  const StoredQueue stored = Load();
  ASSERT_EQ(stored.jobs.size(), 2);
  EXPECT_EQ(stored.jobs[0].SerializeAsString(), job.SerializeAsString());
  EXPECT_EQ(stored.jobs[1].number(), 7);
  ASSERT_EQ(stored.daemons.size(), 1);
  EXPECT_EQ(stored.daemons[0].incarnation(), 5);
  EXPECT_EQ(stored.last_number, 2);

  Apply({RemoveJob{"a-1"}, StoreLastNumber{3}});
  EXPECT_EQ(Load().jobs.size(), 1);
  EXPECT_EQ(Load().last_number, 3);
}

TEST_F(QueueStoreTest, OrdersAloneAreNotWritten) {
  const auto before = std::filesystem::file_size(path() + "-wal");
  Apply({OrdersChanged{"rack"}});
  Apply({});
  EXPECT_EQ(std::filesystem::file_size(path() + "-wal"), before);
  Apply({StoreLastNumber{1}});
  EXPECT_GT(std::filesystem::file_size(path() + "-wal"), before);
}

TEST_F(QueueStoreTest, TheKeyIsDrawnOnce) {
  const auto key = store_->MasterKey();
  ASSERT_TRUE(key.ok()) << key.status();
  EXPECT_EQ(key->size(), 32);
  EXPECT_EQ(*store_->MasterKey(), *key);
  Reopen();
  EXPECT_EQ(*store_->MasterKey(), *key);
  const auto other = QueueStore::Open(Path("other"));
  EXPECT_NE(*(*other)->MasterKey(), *key);
}

TEST_F(QueueStoreTest, OutputsBelongToTheirJob) {
  const std::vector<v1::JobFile> files = {FileOf("out/b", "bb", 2),
                                          FileOf("out/a", "aa", 1)};
  const absl::Status no_job = store_->ChangeOutputs("a-1", files, {});
  EXPECT_EQ(no_job.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(no_job.message()), HasSubstr("\"a-1\""));
  EXPECT_THAT(OutputsOf("a-1"), IsEmpty());

  Apply({StoreJob{JobNamed("a-1", 1)}, StoreJob{JobNamed("b-2", 2)}});
  EXPECT_TRUE(store_->ChangeOutputs("a-1", files, {}).ok());
  EXPECT_TRUE(
      store_->ChangeOutputs("b-2", {FileOf("out/c", "aa", 1)}, {}).ok());
  EXPECT_TRUE(
      store_->ChangeOutputs("a-1", {FileOf("out/b", "cc", 3)}, {}).ok());
  // A job that is stored again keeps them.
  Apply({StoreJob{JobNamed("a-1", 3)}});
  Reopen();
  EXPECT_THAT(OutputsOf("a-1"), ElementsAre("out/a aa 1", "out/b cc 3"));
  EXPECT_THAT(*store_->ReferencedFiles(), ElementsAre("aa", "cc"));

  Apply({RemoveJob{"a-1"}});
  EXPECT_THAT(OutputsOf("a-1"), IsEmpty());
  EXPECT_THAT(OutputsOf("b-2"), ElementsAre("out/c aa 1"));
  EXPECT_THAT(*store_->ReferencedFiles(), ElementsAre("aa"));
}

TEST_F(QueueStoreTest, TokensStayUntilTheyAreRemovedAndNumbersGoOn) {
  EXPECT_EQ(store_->LoadTokens()->last_id, 0);
  StoredToken token;
  for (const uint64_t id : {1, 2}) {
    token.record.set_id(id);
    token.record.set_user("ann");
    token.sha256 = std::string(64, 'a');
    EXPECT_TRUE(store_->StoreToken(token).ok());
  }
  token.record.set_id(1);
  token.record.set_last_used_micros(5);
  EXPECT_TRUE(store_->StoreToken(token).ok());
  EXPECT_TRUE(store_->RemoveToken(2).ok());
  EXPECT_TRUE(store_->RemoveToken(7).ok());
  Reopen();
  const auto stored = store_->LoadTokens();
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->last_id, 2);
  ASSERT_EQ(stored->tokens.size(), 1);
  EXPECT_EQ(stored->tokens[0].record.last_used_micros(), 5);
  EXPECT_EQ(stored->tokens[0].sha256, token.sha256);

  store_.reset();
  RunSql(path(), "UPDATE tokens SET record = x'0aff'");
  Reopen();
  EXPECT_THAT(std::string(store_->LoadTokens().status().message()),
              AllOf(HasSubstr(path()), HasSubstr("token 1")));
}

TEST_F(QueueStoreTest, ARecordThatCannotBeReadIsNamed) {
  Apply({StoreJob{JobNamed("a-1", 1)}, StoreDaemon{DaemonNamed("rack", 1)}});
  store_.reset();
  RunSql(path(), "UPDATE jobs SET record = x'0aff'");
  Reopen();
  const absl::Status damaged = store_->Load().status();
  EXPECT_EQ(damaged.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(damaged.message()),
              AllOf(HasSubstr(path()), HasSubstr("job \"a-1\"")));

  store_.reset();
  RunSql(path(), "DELETE FROM jobs; UPDATE daemons SET name = 'tower'");
  Reopen();
  EXPECT_THAT(std::string(store_->Load().status().message()),
              HasSubstr("daemon \"tower\""));
}

TEST_F(QueueStoreTest, ALaterVersionIsRefused) {
  store_.reset();
  RunSql(path(), "PRAGMA user_version = 1000");
  const auto store = QueueStore::Open(path());
  EXPECT_EQ(store.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(store.status().message()), HasSubstr("version 1000"));
}

}  // namespace
}  // namespace paceline

// Runs verbs against a service of made-up answers behind real sockets.
#ifndef PACELINE_TESTS_UNIT_SERVICE_CLI_SERVICE_VERBS_FIXTURE_H_
#define PACELINE_TESTS_UNIT_SERVICE_CLI_SERVICE_VERBS_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "coordinator/cli/service/service_verb.h"
#include "tests/test_identity.h"
#include "tests/unit/service_cli/fake_service.h"

namespace paceline {

class ServiceVerbsTest : public ::testing::Test {
 protected:
  ServiceVerbsTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    // One thread, so that the fakes need no locks.
    auto server = StartTestServer(
        "127.0.0.1:0", std::vector<RpcService*>{&files_, &jobs_, &tokens_},
        std::nullopt,
        /*thread_count=*/1);
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    Connect(absl::StrCat("127.0.0.1:", server_->port()));
  }

  void Connect(const std::string& address) {
    v1::Task self;
    self.set_type(v1::TASK_TYPE_CHIEF);
    client_ = std::make_unique<ServiceClient>(
        address, std::make_shared<Caller>(self, 7, std::nullopt));
  }

  // Returns the exit code; 2 with `error` set for an error.
  int Run(std::unique_ptr<ServiceVerb> verb, std::vector<std::string> args) {
    CLI::App app;
    verb->AddTo(app);
    std::reverse(args.begin(), args.end());
    app.parse(args);
    out_.str("");
    messages_.str("");
    const absl::StatusOr<int> code =
        verb->Run({.client = *client_,
                   .out = out_,
                   .is_terminal = is_terminal_,
                   .messages = messages_,
                   .is_interrupted = [this] { return is_interrupted_.load(); },
                   .patience = patience_});
    error_ = code.status();
    return code.ok() ? *code : 2;
  }

  std::string WriteJob() {
    std::ofstream(folder_ + "/x.idx") << std::string((1 << 20) + 10, 'x');
    std::ofstream(folder_ + "/job.yaml") << R"(name: mnist
strategy: mirrored
model: {layers: [{Input: {shape: [4]}}, {Dense: {units: 2}}]}
loss: {SparseCategoricalCrossentropy: {from_logits: true}}
optimizer: SGD
data: {train: {idx: {features: x.idx, labels: /data/y.idx}}}
batch_size_per_replica: 2
epochs: 1
)";
    return folder_ + "/job.yaml";
  }

  const std::string folder_ = ::testing::TempDir() + "service_verbs_test";
  FakeFiles files_;
  FakeJobs jobs_;
  FakeTokens tokens_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<ServiceClient> client_;
  std::atomic<bool> is_interrupted_ = false;
  absl::Duration patience_ = absl::Seconds(2);
  bool is_terminal_ = false;
  std::ostringstream out_;
  std::ostringstream messages_;
  absl::Status error_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_SERVICE_CLI_SERVICE_VERBS_FIXTURE_H_

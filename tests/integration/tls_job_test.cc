// Jobs over TLS, each task with a certificate of its own.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/certificates/test_authority.h"
#include "tests/integration/harness/hand_started_cluster.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/test_network.h"
#include "tests/integration/harness/test_service.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

using Arguments = std::vector<std::string>;

constexpr char kWorkersAlone[] = "strategy=multi_worker_mirrored";

class TlsJobTest : public testing::Test {
 protected:
  static Arguments Options(const TlsFiles& files) {
    return {absl::StrCat("--tls-cert=", files.certificate),
            absl::StrCat("--tls-key=", files.key),
            absl::StrCat("--tls-ca=", files.authority)};
  }

  // A certificate of loopback, or of `name` alone, and the options for it.
  Arguments Tls(const std::string& task, const std::string& name = "") const {
    return Options(name.empty()
                       ? authority_.Issue(task)
                       : authority_.Issue(task, absl::StrCat("DNS:", name)));
  }

  // The same for a worker that leads a job of two workers in step.
  Arguments Leads(Arguments arguments) const {
    const Arguments job = {
        "--job", job_.path(),   "--output", job_.output_dir(),
        "--set", kWorkersAlone, "--set",    "cluster={worker: 2}"};
    arguments.insert(arguments.end(), job.begin(), job.end());
    return arguments;
  }

  void ExpectSuccess(const std::vector<Process*>& tasks) const {
    for (Process* const task : tasks) ExpectExit(*task, 0);
    EXPECT_THAT(Column(job_.Result(), "examples"), Each(kTrainExamples));
  }

  SmallJob job_;
  const TestAuthority authority_{job_.folder().path(), "ca"};
};

TEST_F(TlsJobTest, ParameterServersTrain) {
  const auto cluster = HandStartedCluster::OnLoopback(job_, 1, 1, 2);
  Process ps = cluster.Start("ps", 0, Tls("ps-0"));
  Process worker_0 = cluster.Start("worker", 0, Tls("worker-0"));
  Process worker_1 = cluster.Start("worker", 1, Tls("worker-1"));
  Process chief = cluster.StartChief(Tls("chief-0"));
  ExpectSuccess({&chief, &ps, &worker_0, &worker_1});
}

TEST_F(TlsJobTest, WorkersTrainInStep) {
  const auto cluster = HandStartedCluster::OnLoopback(job_, 0, 0, 2);
  Process worker_1 = cluster.Start("worker", 1, Tls("worker-1"));
  Process worker_0 = cluster.Start("worker", 0, Leads(Tls("worker-0")));
  ExpectSuccess({&worker_0, &worker_1});
}

TEST_F(TlsJobTest, AServiceTrains) {
  TestService service(Tls("all"));
  const Process ps = service.StartDaemon("ps_server", "ps-daemon");
  const Process worker = service.StartDaemon("worker", "worker-daemon");
  EXPECT_TRUE(WaitUntil(kJobLimit, [&] {
    return Lines(service.Run({"members", "-o", "name"})).size() == 2;
  })) << ps.Errors();
  service.Run({"submit", job_.path(), "--wait"});
  // Without a certificate nobody is let in.
  Process stranger =
      job_.Coordinator({"list", "--coordinator", service.address()});
  EXPECT_EQ(stranger.Wait(kJobLimit), 1);
  EXPECT_THAT(stranger.Errors(), HasSubstr(service.address()));
}

TEST_F(TlsJobTest, ALocalClusterTrains) {
  Process run = job_.Run(Tls("all"));
  ExpectSuccess({&run});
}

TEST_F(TlsJobTest, ATaskWithoutTlsNamesTheLeader) {
  const auto cluster = HandStartedCluster::OnLoopback(job_, 1, 1, 1);
  Process chief = cluster.StartChief(Tls("chief-0"));
  Process worker = cluster.Start("worker", 0, {"--start_timeout=2"});
  ExpectExit(worker, 1);
  EXPECT_THAT(worker.Errors(), HasSubstr(cluster.AddressOf("chief", 0)));
}

TEST_F(TlsJobTest, ATaskWithTlsSaysThatTheLeaderHasNone) {
  const auto cluster = HandStartedCluster::OnLoopback(job_, 1, 1, 1);
  Process chief = cluster.StartChief();
  Arguments arguments = Tls("worker-0");
  arguments.emplace_back("--start_timeout=2");
  Process worker = cluster.Start("worker", 0, arguments);
  ExpectExit(worker, 1);
  EXPECT_THAT(worker.Errors(), AllOf(HasSubstr(cluster.AddressOf("chief", 0)),
                                     HasSubstr("handshake failed")));
}

TEST_F(TlsJobTest, BadFilesAreNamed) {
  const auto cluster = HandStartedCluster::OnLoopback(job_, 1, 1, 1);
  TlsFiles files = authority_.Issue("bad");
  files.key = authority_.Issue("other").key;
  const auto expect = [](Process process, const std::string& message) {
    ExpectExit(process, 2);
    EXPECT_THAT(process.Errors(), HasSubstr(message));
  };
  expect(cluster.Start("worker", 0, Options(files)), files.key);
  expect(cluster.Start("ps", 0, Options(files)), files.key);
  expect(cluster.StartChief(Options(files)), files.key);
  expect(job_.Coordinator({"serve", "--listen=127.0.0.1:0",
                           "--store=" + job_.folder().path() + "/store",
                           "--tls-cert=" + files.certificate}),
         "--tls-key is not given");
}

// Hosts with names, by which their tasks are known to the authority. Each task
// has process ids of its own, too, without which tasks would share memory.
class TlsAcrossHostsTest : public TlsJobTest {
 protected:
  void SetUp() override {
    const std::string obstacle = TestNetwork::Obstacle();
    if (!obstacle.empty()) GTEST_SKIP() << obstacle;
  }

  static std::string NameOf(const std::string& task) { return task + ".test"; }

  // A host for each task.
  HandStartedCluster Cluster(const std::vector<std::string>& tasks) {
    const int count = static_cast<int>(tasks.size());
    network_ = std::make_unique<TestNetwork>(count);
    HandStartedCluster::Addresses addresses;
    for (int host = 0; host < count; ++host) {
      for (int of = 0; of < count; ++of) {
        network_->AddName(of, NameOf(tasks[host]), host);
      }
      addresses[tasks[host].substr(0, tasks[host].find('-'))].push_back(
          NameOf(tasks[host]) + ":2222");
    }
    return HandStartedCluster(
        job_, addresses, [this, tasks](const std::string& task) {
          const auto it = std::find(tasks.begin(), tasks.end(), task);
          std::vector<std::string> words =
              network_->On(static_cast<int>(it - tasks.begin()));
          for (const char* word :
               {"unshare", "--pid", "--fork", "--kill-child"}) {
            words.emplace_back(word);
          }
          return words;
        });
  }

  Arguments Named(const std::string& task) const {
    return Tls(task, NameOf(task));
  }

  std::unique_ptr<TestNetwork> network_;
};

TEST_F(TlsAcrossHostsTest, ParameterServersTrain) {
  const auto cluster = Cluster({"chief-0", "ps-0", "worker-0", "worker-1"});
  Process ps = cluster.Start("ps", 0, Named("ps-0"));
  Process worker_0 = cluster.Start("worker", 0, Named("worker-0"));
  Process worker_1 = cluster.Start("worker", 1, Named("worker-1"));
  Process chief = cluster.StartChief(Named("chief-0"));
  ExpectSuccess({&chief, &ps, &worker_0, &worker_1});
}

// The leader's own worker reaches it by 127.0.0.1.
TEST_F(TlsAcrossHostsTest, WorkersTrainInStep) {
  const auto cluster = Cluster({"worker-0", "worker-1"});
  Process worker_1 = cluster.Start("worker", 1, Named("worker-1"));
  Process worker_0 = cluster.Start("worker", 0, Leads(Named("worker-0")));
  ExpectSuccess({&worker_0, &worker_1});
  EXPECT_THAT(worker_1.Errors(), HasSubstr("data goes over sockets"));
}

TEST_F(TlsAcrossHostsTest, ATaskAtAnothersNameIsNoLeader) {
  const auto cluster = Cluster({"chief-0", "ps-0", "worker-0"});
  Process chief = cluster.StartChief(Tls("chief-0", "elsewhere.test"));
  Arguments arguments = Named("worker-0");
  // Names are looked up for seconds before the first connection.
  arguments.emplace_back("--start_timeout=10");
  Process worker = cluster.Start("worker", 0, arguments);
  ExpectExit(worker, 1);
  EXPECT_THAT(worker.Errors(), HasSubstr("Hostname Verification Check failed"));
}

}  // namespace
}  // namespace paceline

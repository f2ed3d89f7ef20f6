#include "coordinator/cli/manual_text.h"

namespace paceline {

ManualText CoordinatorManualText() {
  return {
      .name = "paceline",
      .program = "paceline",
      .section = 1,
      .summary = "trains Keras-style models on clusters of machines",
      .environment =
          {{"PACELINE_COORDINATOR",
            "The service's coordinator, host:port; --coordinator goes first."},
           {"PACELINE_SECRET_FILE, PACELINE_TOKEN_FILE",
            "The file with the service's secret, or with one's own token."},
           {"PACELINE_JOB_SECRET_FILE, PACELINE_JOB_SECRET",
            "The secret of a job whose tasks are started by hand."},
           {"TF_CONFIG",
            "The cluster and this task's place in it, as TensorFlow and "
            "Kubeflow write it."}},
      .files = {{"~/.config/paceline/config.yaml",
                 "Contexts: the addresses, secrets, tokens and certificates of "
                 "services."},
                {"/etc/default/paceline-coordinator",
                 "Options of the coordinator's unit of systemd."},
                {"/usr/share/doc/paceline",
                 "The README, the reference of job files, and examples."}},
      .exit_codes =
          {{"0", "It went well."},
           {"1", "The job failed, or the service did not answer."},
           {"2", "Wrong use, or a bad job or data file."},
           {"130",
            "The user stopped it, or the job that was waited for was "
            "stopped."},
           {"138",
            "A signal ended a task whose place a new process may take."}},
      .see_also = "paceline-worker(8), paceline-ps_server(8)",
  };
}

}  // namespace paceline

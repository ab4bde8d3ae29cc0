// Command evidence replays recorded runs of agents under prompt injection through the gate, and prints how
// many attacks ran, how many tasks were kept and how many questions a person had to answer.
//
//	go run ./evidence [-suite NAME] [-v]
//
// The runs are those of AgentDyn (leolee99/AgentDyn, MIT): agents without any defence, benign and
// with an injected text in a page, a file, a mail or an issue. They are recorded data next to the
// checkout, in ../shared/corpus/agentdyn; without it the program reports that and ends with 0.
//
// Every recorded call is decided by a gate whose policy is the file of the suite in examples/flow.
// The gate sees the conversation as the run had it: the system's and the user's message, and every
// result. docs/evidence.md has the numbers and explains how they are counted.
package main

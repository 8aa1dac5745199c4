// Package faults is the checklist of faults that the runtime withstands, on real Kafka, PostgreSQL and Redis: a
// consumer as its users run it, a fault, and then the judgement of package history that nothing is lost, nothing is
// done twice, and no committed offset goes back. Each line of the checklist is a test, TestChecklist….
//
// Its tests are skipped, with the reason, where the servers are not there; see package realtest.
//
// Not here: the line of one message to consumers in Go, Java and Python, whose runtimes have no stores yet.
//
// TestInput… are what is bad by itself: each has a named outcome, nothing is lost, and the log says what to do. These
// are tested elsewhere:
//
//	wrong credentials, TLS and addresses of Kafka     kafka: TestWhatIsWrongIsNamedWithoutTheSecret
//	a topic that is missing when it is published to   kafka: TestAnUnknownTopicIsNamed, TestAnOutageIsNotTakenForAnUnknownTopic
//	a message that its topic refuses for its size     kafka: TestAMessageThatIsTooLargeFailsAloneAndHoldsItsKeyBack
//	a dead letter that its topic refuses for its size guard: TestFault05PublishBeforeAcknowledge
//	each way in which PostgreSQL refuses              postgres: TestErrorsNameTheWayOut, TestAServerThatTakesNoWritesIsNamed
//	tables of another version                         postgres: TestAProgramWorksOnItsTablesAndOnThoseOfTheNextVersion
//	columns and indexes that are missing              postgres: TestValidateNamesWhatIsMissing
//	SQLite: a full disk, no table, another version    sqlite: TestFullDiskWritesNothing, TestMissingTableIsNamed,
//	                                                  TestTablesOfTheNextVersionWorkAndNoLaterOnes
//	faulty headers, each kind                         guard: TestFaultyHeadersAreDeadLetteredAsTheyAre
//	poison bytes of every kind                        guard: TestFault20PoisonBytesEndAsDeadLetters
//	clocks of producers                               guard: TestTooOldIsAskedOfAProducersClockWithTolerance
//	schema ids and frames of Confluent payloads       payload: its own tests
//
// That the checklist finds what is wrong is seen by planting a bug: IDEM_FAULTS_PLANT, see planted.
package faults

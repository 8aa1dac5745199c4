# shellcheck shell=bash disable=SC2154 # root, home, downloads and parts are of scripts/services
# Kafka's own server, from its jars of Maven Central: KRaft, each node broker and controller in one.

kafka_version=4.3.1
kafka_user=idem kafka_password=idem-secret

kafka_get() {
	kafka_libs=$downloads/kafka-$kafka_version
	[[ -f $kafka_libs/complete ]] && return
	{ command -v java && command -v mvn; } >/dev/null ||
		die "kafka: it takes a JDK of 17 or newer and Maven; install them, or set KAFKA_BROKERS"
	say "kafka: downloading $kafka_version from Maven Central (44 MB)"
	rm -rf "$kafka_libs"
	mvn_quiet -f "$parts/kafka.xml" -Dkafka.version="$kafka_version" -Dlibs.dir="$kafka_libs" dependency:copy-dependencies >&2 ||
		die "kafka: the download failed; set KAFKA_BROKERS where you have one"
	# For the TLS listener; its clients trust this certificate.
	keytool -genkeypair -keyalg EC -groupname secp256r1 -alias server -dname CN=127.0.0.1 -ext SAN=ip:127.0.0.1,dns:localhost \
		-validity 3650 -keystore "$kafka_libs/server.p12" -storetype PKCS12 -storepass "$kafka_password" 2>/dev/null
	keytool -exportcert -rfc -alias server -keystore "$kafka_libs/server.p12" -storepass "$kafka_password" \
		-file "$kafka_libs/ca.pem" 2>/dev/null
	touch "$kafka_libs/complete"
}

# kafka_java HEAP JAVA_ARGUMENTS...: the command, in kafka_command. Class data sharing halves the start; the
# archive is made by the first node that ends.
kafka_java() {
	kafka_command=(java "-Xmx$1" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.awt.headless=true
		"-Dlog4j2.configurationFile=$parts/kafka-log4j2.properties")
	if [[ -f $kafka_libs/classes.jsa ]]; then
		kafka_command+=("-XX:SharedArchiveFile=$kafka_libs/classes.jsa" -Xlog:cds=off -Xlog:cds+dynamic=off)
	fi
	kafka_command+=("${@:2}")
}

# kafka_voters NODE: the controllers of its cluster.
kafka_voters() {
	local node voters=
	for node in $(nodes "${1%:*}"); do
		voters+=,$(kafka_id "$node")@127.0.0.1:$(port "$node" controller)
	done
	echo "${voters#,}"
}

kafka_id() { [[ $1 == *:* ]] && echo "${1#*:}" || echo 1; }

# kafka_create NODE: its properties name the ports of all nodes, so those are chosen with the first.
kafka_create() {
	local node
	mkdir -p "$(dir "$1")/data"
	for node in $(nodes "${1%:*}"); do
		choose_port "$node"
		choose_port "$node" controller
	done
	if [[ $1 == kafka ]]; then
		choose_port kafka sasl
		choose_port kafka tls
	fi
}

kafka_properties() {
	# A busy machine must not make the only node look dead; a dead one of three is to be noticed soon.
	local port replicas=1 in_sync=1 session=20000
	port=$(port "$1")
	if [[ $1 == *:* ]]; then replicas=3 in_sync=2 session=4000; fi
	cat <<-END
		process.roles=broker,controller
		node.id=$(kafka_id "$1")
		controller.quorum.voters=$(kafka_voters "$1")
		controller.listener.names=CONTROLLER
		inter.broker.listener.name=PLAINTEXT
		listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SSL
		log.dirs=$(dir "$1")/data
		auto.create.topics.enable=false
		delete.topic.enable=true
		default.replication.factor=$replicas
		min.insync.replicas=$in_sync
		offsets.topic.replication.factor=$replicas
		offsets.topic.num.partitions=4
		transaction.state.log.replication.factor=$replicas
		transaction.state.log.min.isr=$in_sync
		transaction.state.log.num.partitions=4
		share.coordinator.state.topic.replication.factor=$replicas
		share.coordinator.state.topic.min.isr=$in_sync
		share.coordinator.state.topic.num.partitions=4
		group.initial.rebalance.delay.ms=0
		group.min.session.timeout.ms=1000
		log.cleaner.dedupe.buffer.size=4194304
		num.network.threads=2
		num.io.threads=4
		broker.heartbeat.interval.ms=500
		broker.session.timeout.ms=$session
		controlled.shutdown.max.retries=1
	END
	if [[ $1 == *:* ]]; then
		cat <<-END
			listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$(port "$1" controller)
			advertised.listeners=PLAINTEXT://127.0.0.1:$port
		END
		return
	fi
	local sasl tls module=org.apache.kafka.common.security
	sasl=$(port "$1" sasl)
	tls=$(port "$1" tls)
	cat <<-END
		listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$(port "$1" controller),SASL://127.0.0.1:$sasl,TLS://127.0.0.1:$tls
		advertised.listeners=PLAINTEXT://127.0.0.1:$port,SASL://127.0.0.1:$sasl,TLS://127.0.0.1:$tls
		sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
		listener.name.sasl.plain.sasl.jaas.config=$module.plain.PlainLoginModule required user_$kafka_user="$kafka_password";
		listener.name.sasl.scram-sha-256.sasl.jaas.config=$module.scram.ScramLoginModule required;
		listener.name.sasl.scram-sha-512.sasl.jaas.config=$module.scram.ScramLoginModule required;
		ssl.keystore.type=PKCS12
		ssl.keystore.location=$kafka_libs/server.p12
		ssl.keystore.password=$kafka_password
	END
}

kafka_launch() {
	local dir heap=512m jsa=()
	dir=$(dir "$1")
	kafka_get
	if [[ $1 == *:* ]]; then heap=320m; fi
	kafka_properties "$1" >"$dir/server.properties"
	if [[ ! -f $dir/data/meta.properties ]]; then
		kafka_java 128m -Dlog4j2.level=OFF -cp "$kafka_libs/*" kafka.tools.StorageTool format --cluster-id MkU3OEVBNTcwNTJENDM2Qg \
			--config "$dir/server.properties" \
			--add-scram "SCRAM-SHA-256=[name=$kafka_user,password=$kafka_password]" \
			--add-scram "SCRAM-SHA-512=[name=$kafka_user,password=$kafka_password]"
		"${kafka_command[@]}" >"$dir/log" 2>&1 || die "kafka: format: $(tail -n 5 "$dir/log")"
	fi
	if [[ $1 == kafka && ! -f $kafka_libs/classes.jsa ]]; then
		jsa=("-XX:ArchiveClassesAtExit=$kafka_libs/classes.jsa.new" -Xlog:cds=off -Xlog:cds+dynamic=off)
	fi
	kafka_java "$heap" "${jsa[@]}" -cp "$kafka_libs/*" kafka.Kafka "$dir/server.properties"
	: >"$dir/log"
	detached "$dir/log" "${kafka_command[@]}"
	born "$1" $!
}

kafka_ready() { until_ready "$1" grep -qs 'Kafka Server started' "$(dir "$1")/log"; }

# kafka_end NODE [now]: its data is thrown away after `now`, so that it need not be orderly.
kafka_end() {
	local new=$downloads/kafka-$kafka_version/classes.jsa.new
	signal CONT "$1"
	if [[ ${2-} == now && ($1 != kafka || -f ${new%.new}) ]]; then
		signal KILL "$1"
	else
		signal TERM "$1"
	fi
	gone "$1" 300
	if [[ $1 == kafka && -f $new ]]; then mv "$new" "${new%.new}"; fi
}

kafka_env() {
	cat <<-END
		export KAFKA_SASL_BROKERS=127.0.0.1:$(port kafka sasl) KAFKA_SASL_USER=$kafka_user KAFKA_SASL_PASSWORD=$kafka_password
		export KAFKA_TLS_BROKERS=127.0.0.1:$(port kafka tls) KAFKA_CA=$downloads/kafka-$kafka_version/ca.pem
	END
}

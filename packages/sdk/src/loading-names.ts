// Names of environment variables that make programs load code or configuration, run a command, or trust someone. A
// server cannot forge a value. But anyone who may write to one layer of an environment can add such a name, and the
// next program that starts with it runs their code. So a program gets these variables only if its user expects them.

interface Row {
  /** Separated by spaces. `*` stands for any characters at the beginning or at the end. */
  names: string
  reason: string
}

/**
 * Ordinary settings are left out, even if they name a file or a host. The list has names that nobody stores by habit.
 */
const rows: readonly Row[] = [
  {
    names: 'LD_* DYLD_* LIBPATH SHLIB_PATH LDR_PRELOAD LDR_PRELOAD64 _RLD_*',
    reason: 'the system’s loader takes libraries from it',
  },
  {
    names: 'GLIBC_TUNABLES GCONV_PATH GETCONF_DIR LOCPATH NLSPATH MALLOC_TRACE NIS_PATH TZDIR',
    reason: 'the C library loads files from it',
  },
  { names: 'HOSTALIASES LOCALDOMAIN RESOLV_HOST_CONF RES_OPTIONS', reason: 'it changes which hosts names lead to' },
  { names: 'TERMINFO TERMINFO_DIRS TERMCAP TERMPATH', reason: 'terminal libraries load files from it' },
  { names: 'PATH PATHEXT COMSPEC SYSTEMROOT WINDIR SHELL', reason: 'it decides which programs are started' },
  {
    names: 'BASH_ENV ENV BASH_FUNC_* BASHOPTS SHELLOPTS BASH_LOADABLES_PATH ZDOTDIR FPATH INPUTRC PSMODULEPATH',
    reason: 'shells load code or options from it',
  },
  { names: 'PROMPT_COMMAND PS1 PS2 PS4 IFS CDPATH GLOBIGNORE', reason: 'it changes what shells run' },
  {
    names: 'HOME USERPROFILE APPDATA LOCALAPPDATA XDG_CONFIG_HOME XDG_CONFIG_DIRS XDG_DATA_HOME XDG_DATA_DIRS',
    reason: 'programs load their configuration from there',
  },
  {
    names:
      'NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE NODE_COMPILE_CACHE NODE_ICU_DATA ELECTRON_RUN_AS_NODE ' +
      'TS_NODE_* TSX_TSCONFIG_PATH',
    reason: 'Node.js loads code from it',
  },
  { names: 'NODE_V8_COVERAGE NODE_REDIRECT_WARNINGS', reason: 'Node.js writes files where it says' },
  {
    names: 'NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED NODE_USE_SYSTEM_CA NODE_USE_ENV_PROXY',
    reason: 'it changes whom Node.js trusts',
  },
  {
    names:
      'NPM_CONFIG_* PNPM_HOME PNPM_CONFIG_* YARN_YARN_PATH YARN_RC_FILENAME YARN_PLUGINS YARN_NPM_REGISTRY_SERVER ' +
      'COREPACK_HOME COREPACK_NPM_REGISTRY',
    reason: 'JavaScript package managers load code from it',
  },
  {
    names:
      'BUN_OPTIONS BUN_INSTALL BUN_CONFIG_REGISTRY BUN_RUNTIME_TRANSPILER_CACHE_PATH DENO_DIR DENO_INSTALL_ROOT ' +
      'DENO_V8_FLAGS',
    reason: 'Bun or Deno loads code from it',
  },
  { names: 'DENO_CERT DENO_TLS_CA_STORE', reason: 'it changes whom Deno trusts' },
  {
    names:
      'PYTHONSTARTUP PYTHONPATH PYTHONHOME PYTHONUSERBASE PYTHONPLATLIBDIR PYTHONEXECUTABLE PYTHONBREAKPOINT ' +
      'PYTHONWARNINGS PYTHONINSPECT PYTHONPYCACHEPREFIX PYTHON_PRESITE',
    reason: 'Python loads code from it',
  },
  {
    names:
      'GUNICORN_CMD_ARGS CELERY_CONFIG_MODULE CELERY_LOADER PYTEST_ADDOPTS PYTEST_PLUGINS IPYTHONDIR JUPYTER_PATH ' +
      'JUPYTER_CONFIG_DIR JUPYTER_CONFIG_PATH MYPYPATH COVERAGE_PROCESS_START COVERAGE_RCFILE',
    reason: 'Python servers and tools load code or options from it',
  },
  { names: 'ANSIBLE_*', reason: 'Ansible loads code and configuration from it' },
  {
    names:
      'PIP_CONFIG_FILE PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PIP_TRUSTED_HOST PIP_CERT PIP_REQUIREMENT ' +
      'PIP_CONSTRAINT PIP_PYTHON PIP_PROXY UV_INDEX UV_INDEX_URL UV_DEFAULT_INDEX UV_EXTRA_INDEX_URL UV_FIND_LINKS ' +
      'UV_CONFIG_FILE UV_PYTHON UV_INSECURE_HOST UV_CONSTRAINT UV_OVERRIDE UV_BUILD_CONSTRAINT CONDARC CONDA_EXE ' +
      'CONDA_PREFIX POETRY_HOME POETRY_CONFIG_DIR',
    reason: 'Python package managers load code from it',
  },
  {
    names: 'PERL5OPT PERL5LIB PERLLIB PERL5DB PERL5SHELL PERLIO PERL_CPANM_OPT PERL_MM_OPT PERL_MB_OPT',
    reason: 'Perl loads code from it',
  },
  {
    names:
      'RUBYOPT RUBYLIB RUBYPATH RUBYSHELL RUBYGEMS_GEMDEPS GEM_HOME GEM_PATH GEM_SPEC_CACHE GEMRC IRBRC RAKEOPT ' +
      'SPEC_OPTS BUNDLE_GEMFILE BUNDLE_APP_CONFIG BUNDLE_PATH BUNDLE_BIN BUNDLE_MIRROR__* BUNDLE_USER_CONFIG ' +
      'BUNDLE_USER_PLUGIN',
    reason: 'Ruby loads code from it',
  },
  {
    names:
      'JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_OPTS JAVA_HOME CLASSPATH CATALINA_OPTS MAVEN_OPTS ' +
      'MAVEN_ARGS MAVEN_HOME M2_HOME GRADLE_OPTS GRADLE_USER_HOME GRADLE_HOME SBT_OPTS ANT_OPTS ANT_ARGS JVM_OPTS ' +
      'JRE_HOME JAVACMD JAVA_ARGS JBOSS_JAVA_OPTS LEIN_JVM_OPTS KOTLIN_HOME SCALA_HOME GROOVY_HOME _JPI_VM_OPTIONS',
    reason: 'Java loads code from it',
  },
  {
    names:
      'ES_JAVA_OPTS ES_JAVA_HOME ES_PATH_CONF OPENSEARCH_JAVA_OPTS OPENSEARCH_JAVA_HOME OPENSEARCH_PATH_CONF ' +
      'LS_JAVA_OPTS KAFKA_OPTS KAFKA_HEAP_OPTS KAFKA_JMX_OPTS KAFKA_LOG4J_OPTS KAFKA_JVM_PERFORMANCE_OPTS ' +
      'ZOOKEEPER_OPTS SERVER_JVMFLAGS CLIENT_JVMFLAGS CASSANDRA_CONF HADOOP_OPTS HADOOP_CLASSPATH HADOOP_CONF_DIR ' +
      'SPARK_SUBMIT_OPTS SPARK_CONF_DIR SPARK_HOME SPARK_DAEMON_JAVA_OPTS HIVE_AUX_JARS_PATH FLINK_ENV_JAVA_OPTS ' +
      'JETTY_OPTIONS SOLR_OPTS ACTIVEMQ_OPTS NEO4J_CONF JENKINS_JAVA_OPTS JENKINS_OPTS',
    reason: 'Java servers load code or options from it',
  },
  {
    names:
      'SPRING_APPLICATION_JSON SPRING_CONFIG_* SPRING_CLOUD_BOOTSTRAP_LOCATION SPRING_MAIN_SOURCES LOADER_PATH ' +
      'MICRONAUT_CONFIG_FILES QUARKUS_CONFIG_LOCATIONS SMALLRYE_CONFIG_LOCATIONS LOG4J_CONFIGURATION_FILE',
    reason: 'Java frameworks load configuration or code from it',
  },
  {
    names:
      'DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS DOTNET_SHARED_STORE DOTNET_ROOT* CORECLR_* COR_PROFILER* ' +
      'COR_ENABLE_PROFILING COMPLUS_* ASPNETCORE_HOSTINGSTARTUPASSEMBLIES DOTNET_HOSTINGSTARTUPASSEMBLIES ' +
      'MSBUILDSDKSPATH MSBUILD_EXE_PATH NUGET_PACKAGES NUGET_PLUGIN_PATHS',
    reason: '.NET loads code from it',
  },
  {
    names: 'PHPRC PHP_INI_SCAN_DIR PHP_BINARY COMPOSER COMPOSER_HOME COMPOSER_VENDOR_DIR COMPOSER_BIN_DIR',
    reason: 'PHP loads configuration and code from it',
  },
  { names: 'LUA_INIT* LUA_PATH* LUA_CPATH* LUAROCKS_CONFIG*', reason: 'Lua loads code from it' },
  {
    names: 'GOFLAGS GOENV GOROOT GOPATH GOTOOLDIR GOTOOLCHAIN GOCACHEPROG GOPROXY GODEBUG GOMODCACHE GOWORK GOVCS',
    reason: 'Go loads code or options from it',
  },
  {
    names: 'GOSUMDB GONOSUMDB GONOSUMCHECK GONOPROXY GOINSECURE GOPRIVATE GOAUTH',
    reason: 'it changes which code Go trusts',
  },
  {
    names:
      'RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTFLAGS RUSTDOC CARGO CARGO_HOME CARGO_BUILD_* CARGO_TARGET_* ' +
      'CARGO_SOURCE_* CARGO_ENCODED_RUSTFLAGS RUSTDOCFLAGS RUSTUP_HOME RUSTUP_TOOLCHAIN RUSTUP_DIST_SERVER ' +
      'RUSTUP_UPDATE_ROOT',
    reason: 'Rust’s tools run what it says',
  },
  {
    names:
      'ERL_LIBS ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS ERL_INETRC ERL_ROOTDIR ELIXIR_ERL_OPTIONS MIX_EXS MIX_HOME ' +
      'MIX_ARCHIVES MIX_DEPS_PATH MIX_BUILD_PATH MIX_REBAR3 HEX_HOME HEX_MIRROR HEX_UNSAFE_HTTPS RELEASE_VM_ARGS ' +
      'RELEASE_SYS_CONFIG R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER R_LIBS R_LIBS_USER R_LIBS_SITE R_HOME ' +
      'R_DEFAULT_PACKAGES JULIA_LOAD_PATH JULIA_DEPOT_PATH JULIA_PROJECT JULIA_BINDIR OCAMLRUNPARAM ' +
      'CAML_LD_LIBRARY_PATH GUILE_LOAD_PATH GUILE_LOAD_COMPILED_PATH TCLLIBPATH EMACSLOADPATH AWKPATH AWKLIBPATH ' +
      'GHCRTS',
    reason: 'a language’s runtime loads code or options from it',
  },
  {
    names:
      'MAKEFLAGS MAKEFILES GNUMAKEFLAGS CC CXX GCC_EXEC_PREFIX COMPILER_PATH CPATH LIBRARY_PATH PKG_CONFIG ' +
      'PKG_CONFIG_PATH PKG_CONFIG_LIBDIR CMAKE_PREFIX_PATH CMAKE_TOOLCHAIN_FILE CCACHE_PREFIX CCACHE_COMPILER ' +
      'NIX_PATH NIX_CONFIG BAZELISK_BASE_URL BAZEL_SH',
    reason: 'build tools run or load what it says',
  },
  {
    names:
      'GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_PROXY_COMMAND ' +
      'GIT_EXTERNAL_DIFF GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_CONFIG* GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR ' +
      'GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_INDEX_FILE GIT_ALLOW_PROTOCOL GIT_SHALLOW_FILE ' +
      'GIT_ATTR_SOURCE GIT_REDIRECT_* GIT_TRACE* GH_CONFIG_DIR GH_PATH',
    reason: 'git runs or loads what it says',
  },
  { names: 'GIT_SSL_*', reason: 'it changes whom git trusts' },
  {
    names: 'HGRCPATH HG HGMERGE HGEDITOR SVN_SSH SVN_EDITOR CVS_RSH RSYNC_RSH RSYNC_CONNECT_PROG',
    reason: 'version control and rsync run what it says',
  },
  { names: 'SSH_ASKPASS SSH_ASKPASS_REQUIRE SSH_SK_PROVIDER SUDO_ASKPASS SUDO_EDITOR', reason: 'ssh or sudo runs it' },
  { names: 'SSH_AUTH_SOCK GNUPGHOME', reason: 'it changes whose keys are used' },
  {
    names:
      'SSL_CERT_* CURL_CA_BUNDLE REQUESTS_CA_BUNDLE HTTPLIB2_CA_CERTS AWS_CA_BUNDLE CARGO_HTTP_CAINFO ' +
      'GRPC_DEFAULT_SSL_ROOTS_FILE_PATH',
    reason: 'it changes which certificates are trusted',
  },
  { names: 'SSLKEYLOGFILE', reason: 'the keys of TLS connections are written there' },
  {
    names: 'OPENSSL_CONF OPENSSL_CONF_INCLUDE OPENSSL_ENGINES OPENSSL_MODULES GNUTLS_SYSTEM_PRIORITY_FILE',
    reason: 'TLS libraries load configuration and code from it',
  },
  {
    names: 'CURL_HOME WGETRC WGET2RC SYSTEM_WGETRC SYSTEM_WGET2RC NETRC',
    reason: 'curl and wget load their configuration from it',
  },
  { names: '*_PROXY', reason: 'connections would go by way of that host' },
  {
    names: 'KRB5_CONFIG KRB5_KDC_PROFILE LDAPCONF LDAPRC LDAPTLS_*',
    reason: 'it changes which server confirms who people and hosts are',
  },
  {
    names:
      'PSQLRC PSQL_PAGER PSQL_EDITOR PSQL_WATCH_PAGER PGSERVICEFILE PGSYSCONFDIR PGLOCALEDIR REDISCLI_RCFILE ' +
      'MYSQL_HOME MYSQL_GROUP_SUFFIX MYSQL_TEST_LOGIN_FILE LIBMYSQL_PLUGINS LIBMYSQL_PLUGIN_DIR MARIADB_PLUGIN_DIR ' +
      'ODBCINI ODBCSYSINI ODBCINSTINI FREETDS FREETDSCONF TNS_ADMIN ORACLE_HOME ORACLE_PATH SQLPATH',
    reason: 'database clients load code or configuration from it',
  },
  {
    names:
      'EDITOR VISUAL FCEDIT PAGER MANPAGER BAT_PAGER SYSTEMD_PAGER SYSTEMD_EDITOR KUBE_EDITOR KUBECTL_EXTERNAL_DIFF ' +
      'BROWSER LESSOPEN LESSCLOSE LESS LESSKEY* MORE',
    reason: 'programs run it as editor, pager or browser',
  },
  { names: 'VIMINIT EXINIT MYVIMRC VIM VIMRUNTIME NVIM_APPNAME', reason: 'vi loads code from it' },
  {
    names:
      'DOCKER_HOST DOCKER_CONFIG DOCKER_CERT_PATH DOCKER_CONTEXT DOCKER_TLS_VERIFY BUILDKIT_HOST BUILDX_CONFIG ' +
      'CONTAINER_HOST CONTAINERD_ADDRESS CONTAINERS_CONF* COMPOSE_FILE COMPOSE_ENV_FILES KUBECONFIG HELM_PLUGINS ' +
      'HELM_BIN HELM_CONFIG_HOME HELM_DATA_HOME HELM_CACHE_HOME HELM_REGISTRY_CONFIG HELM_REPOSITORY_* ' +
      'HELM_KUBEAPISERVER HELM_KUBECAFILE HELM_KUBECONTEXT HELM_KUBEINSECURE_SKIP_TLS_VERIFY KUSTOMIZE_PLUGIN_HOME ' +
      'CLOUDSDK_PYTHON CLOUDSDK_PYTHON_SITEPACKAGES CLOUDSDK_CONFIG CLOUDSDK_API_ENDPOINT_OVERRIDES_* ' +
      'AZURE_CONFIG_DIR AZURE_EXTENSION_DIR AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_ENDPOINT_URL ' +
      'AWS_ENDPOINT_URL_* TF_CLI_ARGS* TF_CLI_CONFIG_FILE TERRAFORM_CONFIG TF_REATTACH_PROVIDERS ' +
      'TF_PLUGIN_CACHE_DIR TF_DATA_DIR TERRAGRUNT_TFPATH TG_TF_PATH PULUMI_HOME PACKER_CONFIG PACKER_PLUGIN_PATH ' +
      'VAGRANT_HOME VAGRANT_VAGRANTFILE',
    reason: 'cloud tools run commands or use addresses from it',
  },
  {
    names:
      'GTK_MODULES GTK_PATH GIO_EXTRA_MODULES GIO_MODULE_DIR GDK_PIXBUF_MODULE_FILE GST_PLUGIN_* QT_PLUGIN_PATH ' +
      'QT_QPA_PLATFORM_PLUGIN_PATH QML2_IMPORT_PATH LIBGL_DRIVERS_PATH VK_ICD_FILENAMES VK_LAYER_PATH ' +
      'OCL_ICD_VENDORS MAGICK_CONFIGURE_PATH MAGICK_CODER_MODULE_PATH',
    reason: 'graphics libraries load code from it',
  },
  { names: 'SKERRY_*', reason: 'it changes which server and credential a skerry inside the program takes' },
]

interface Index {
  exact: Map<string, string>
  affixes: { prefix: string; suffix: string; reason: string }[]
}

let index: Index | undefined

function indexed(): Index {
  const all = rows.flatMap(({ names, reason }) => names.split(' ').map((name) => ({ name, reason })))
  return {
    exact: new Map(all.filter(({ name }) => !name.includes('*')).map(({ name, reason }) => [name, reason])),
    affixes: all
      .filter(({ name }) => name.includes('*'))
      .map(({ name, reason }) => ({
        prefix: name.startsWith('*') ? '' : name.slice(0, -1),
        suffix: name.startsWith('*') ? name.slice(1) : '',
        reason,
      })),
  }
}

/**
 * Returns the reason why `forEnvironment` withholds a secret of this name from programs. If `forEnvironment` does not
 * withhold such a secret, the function returns undefined.
 *
 * @example loadingReason('NODE_OPTIONS') // 'Node.js loads code from it'
 */
export function loadingReason(name: string): string | undefined {
  index ??= indexed()
  // Windows ignores case, and proxy variables are written both ways.
  const upper = name.toUpperCase()
  const { exact, affixes } = index
  const affix = () => affixes.find(({ prefix, suffix }) => upper.startsWith(prefix) && upper.endsWith(suffix))
  return exact.get(upper) ?? affix()?.reason
}

/** A secret that `forEnvironment` does not put into the environment variables of a program. */
export interface Withheld {
  /** The name of the secret. */
  name: string
  /** What programs do with a variable of this name, for example "Node.js loads code from it". */
  reason: string
}

/**
 * Divides secrets into two parts: `env` and `withheld`. Use `env` as the environment variables of a program. `withheld`
 * has the secrets whose names change how programs run. For example, `NODE_OPTIONS` makes Node.js load code. Somebody
 * who can write secrets could otherwise run code in your program.
 *
 * @param allowNames the names of secrets that the function puts into `env`, although it would otherwise withhold them.
 *   Write each name exactly as it is stored, with the same upper and lower case.
 * @returns `env`, an object without a prototype, and `withheld`, sorted by name.
 * @example
 * const { values } = await skerry.resolve()
 * const { env, withheld } = forEnvironment(values, ['HTTPS_PROXY'])
 * spawn('./server', { env: { ...process.env, ...env } })
 */
export function forEnvironment(
  values: Readonly<Record<string, string>>,
  allowNames: readonly string[] = [],
): { env: Record<string, string>; withheld: Withheld[] } {
  const env: Record<string, string> = Object.create(null)
  const withheld: Withheld[] = []
  for (const [name, value] of Object.entries(values)) {
    const reason = allowNames.includes(name) ? undefined : loadingReason(name)
    if (reason === undefined) env[name] = value
    else withheld.push({ name, reason })
  }
  return { env, withheld: withheld.sort((a, b) => (a.name < b.name ? -1 : 1)) }
}

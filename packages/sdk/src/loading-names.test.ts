import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { forEnvironment, loadingReason } from './loading-names.ts'

describe('the list of loading names', () => {
  test.each([
    ['LD_PRELOAD', 'the system’s loader takes libraries from it'],
    ['DYLD_INSERT_LIBRARIES', 'the system’s loader takes libraries from it'],
    ['NODE_OPTIONS', 'Node.js loads code from it'],
    ['NODE_EXTRA_CA_CERTS', 'it changes whom Node.js trusts'],
    ['BASH_ENV', 'shells load code or options from it'],
    ['ENV', 'shells load code or options from it'],
    ['IFS', 'it changes what shells run'],
    ['PYTHONSTARTUP', 'Python loads code from it'],
    ['PYTHONPATH', 'Python loads code from it'],
    ['PERL5OPT', 'Perl loads code from it'],
    ['RUBYOPT', 'Ruby loads code from it'],
    ['JAVA_TOOL_OPTIONS', 'Java loads code from it'],
    ['NODE_TLS_REJECT_UNAUTHORIZED', 'it changes whom Node.js trusts'],
    ['SSL_CERT_DIR', 'it changes which certificates are trusted'],
    ['PATH', 'it decides which programs are started'],
    ['Path', 'it decides which programs are started'],
    ['HTTPS_PROXY', 'connections would go by way of that host'],
    ['no_proxy', 'connections would go by way of that host'],
    ['SSL_CERT_FILE', 'it changes which certificates are trusted'],
    ['GIT_CONFIG_COUNT', 'git runs or loads what it says'],
    ['LUA_INIT_5_4', 'Lua loads code from it'],
    ['GUNICORN_CMD_ARGS', 'Python servers and tools load code or options from it'],
    ['PYTEST_ADDOPTS', 'Python servers and tools load code or options from it'],
    ['PYTEST_PLUGINS', 'Python servers and tools load code or options from it'],
    ['ANSIBLE_CALLBACK_PLUGINS', 'Ansible loads code and configuration from it'],
    ['TS_NODE_PROJECT', 'Node.js loads code from it'],
    ['MIX_EXS', 'a language’s runtime loads code or options from it'],
    ['SPRING_APPLICATION_JSON', 'Java frameworks load configuration or code from it'],
    ['SPRING_CONFIG_LOCATION', 'Java frameworks load configuration or code from it'],
    ['ES_JAVA_OPTS', 'Java servers load code or options from it'],
    ['KAFKA_OPTS', 'Java servers load code or options from it'],
    ['HELM_PLUGINS', 'cloud tools run commands or use addresses from it'],
    ['AWS_ENDPOINT_URL', 'cloud tools run commands or use addresses from it'],
    ['AWS_ENDPOINT_URL_STS', 'cloud tools run commands or use addresses from it'],
    ['PGSERVICEFILE', 'database clients load code or configuration from it'],
    ['REDISCLI_RCFILE', 'database clients load code or configuration from it'],
    ['SKERRY_URL', 'it changes which server and credential a skerry inside the program takes'],
  ])('contains %s', (name, reason) => expect(loadingReason(name)).toBe(reason))

  test.each([
    ...['DATABASE_URL', 'API_KEY', 'NODE_ENV', 'NODE_AUTH_TOKEN', 'NPM_TOKEN', 'PYTHONUNBUFFERED', 'GIT_TOKEN'],
    ...['PGPASSWORD', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'CARGO_REGISTRY_TOKEN', 'PROXY', 'TZ', 'LANG'],
    ...['constructor', '__proto__', 'TERM', 'PORT', 'HOST', 'COMPOSER_AUTH', 'GOOGLE_APPLICATION_CREDENTIALS'],
    ...['PGHOST', 'PGUSER', 'PGSSLMODE', 'PGSSLROOTCERT', 'MYSQL_PWD', 'MYSQL_PASSWORD', 'REDIS_URL', 'REDISCLI_AUTH'],
    ...['AWS_SESSION_TOKEN', 'AWS_REGION', 'HELM_KUBETOKEN', 'KAFKA_BROKERS', 'SPRING_DATASOURCE_PASSWORD', 'GH_TOKEN'],
    ...[
      'SPRING_PROFILES_ACTIVE',
      'DOCKER_PASSWORD',
      'TWINE_PASSWORD',
      'UV_PUBLISH_TOKEN',
      'HEX_API_KEY',
      'GEM_HOST_API_KEY',
    ],
    ...[
      'TF_VAR_token',
      'TF_TOKEN_app_terraform_io',
      'PULUMI_ACCESS_TOKEN',
      'ARM_CLIENT_SECRET',
      'BUNDLE_GEMS__CONTRIBSYS__COM',
    ],
  ])('does not contain %s', (name) => expect(loadingReason(name)).toBeUndefined())

  test('withholds a name from a program’s environment, unless exactly that name is allowed', () => {
    const values = { URL: 'u', NODE_OPTIONS: 'n', HTTPS_PROXY: 'p', ['__proto__']: 'x' }
    const { env, withheld } = forEnvironment(values, ['HTTPS_PROXY', 'node_options'])
    expect(Object.entries(env)).toEqual([
      ['URL', 'u'],
      ['HTTPS_PROXY', 'p'],
      ['__proto__', 'x'],
    ])
    expect(withheld).toEqual([{ name: 'NODE_OPTIONS', reason: 'Node.js loads code from it' }])
  })

  test('stops code that would otherwise run in the next program', () => {
    const start = (env: Record<string, string>) =>
      execFileSync(process.execPath, ['-e', '0'], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    const values = { NODE_OPTIONS: '--import=data:text/javascript,console.log(`taken`)' }
    expect(start(values)).toBe('taken\n')
    expect(start(forEnvironment(values).env)).toBe('')
  })
})

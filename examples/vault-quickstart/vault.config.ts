import { apiKeyProvider, defineVaultConfig, oauth2Provider } from '@skerry/executor'

// The settings of the executor: what people can connect, and the only hosts to which their credentials may be sent.

const { EXECUTOR_URL = '', PROVIDER_URL = '' } = process.env
const { host } = new URL(PROVIDER_URL)

export default defineVaultConfig({
  origin: EXECUTOR_URL,
  listen: new URL(EXECUTOR_URL).host,
  // The provider of this example runs on this machine. A real one has a public address, and does not need this line.
  allowNetworks: ['127.0.0.0/8'],
  providers: [
    apiKeyProvider({
      id: 'weather',
      displayName: 'Weather',
      consentSummary: 'Reads the forecast for where you are.',
      keyLabel: 'Weather key',
      // Without this line, the key would be sent as a bearer token, like the tokens of Calendar.
      sentAs: { header: 'x-api-key' },
      rules: [{ host, methods: ['GET'], paths: ['/v1/forecast'] }],
    }),
    oauth2Provider({
      id: 'calendar',
      displayName: 'Calendar',
      consentSummary: 'Reads what you have planned for today.',
      issuer: PROVIDER_URL,
      clientId: 'planner',
      clientSecretEnv: 'CALENDAR_CLIENT_SECRET',
      scopes: ['openid', 'offline_access'],
      authorizationParameters: { prompt: 'consent' },
      rules: [{ host, methods: ['GET'], paths: ['/v1/events'] }],
    }),
  ],
})

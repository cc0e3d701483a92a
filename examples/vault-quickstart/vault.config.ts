import { apiKeyProvider, defineVaultConfig, oauth2Provider } from '@skerry/executor'

// The settings of the executor: what people can connect, and the only places where their credentials may be sent.

const { EXECUTOR_URL = '', PROVIDER_URL = '' } = process.env
const { host } = new URL(PROVIDER_URL)

export default defineVaultConfig({
  origin: EXECUTOR_URL,
  listen: new URL(EXECUTOR_URL).host,
  // The provider of this example stands on this machine. A real one has a public address, and needs no such line.
  allowNetworks: ['127.0.0.0/8'],
  providers: [
    apiKeyProvider({
      id: 'weather',
      displayName: 'Weather',
      consentSummary: 'Reads the forecast for where you are.',
      keyLabel: 'Weather key',
      // Without this line the key would go out as a bearer, as the tokens of Calendar do.
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

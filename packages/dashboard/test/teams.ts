/** The names and secrets of a team, for screenshots and checks of filled pages. */
export interface Team {
  org: { name: string; slug: string }
  app: { name: string; slug: string }
  group: { name: string; slug: string }
  /** The first environment is protected at the end, and the group is composed into it. */
  envs: { name: string; slug: string }[]
  branch: { name: string; slug: string }
  /** A value for each environment, by name. Null means that it is missing. */
  secrets: Record<string, (string | null)[]>
  /** The secrets in the group's environment. */
  shared: Record<string, string>
  /** The secret whose ciphertext was sealed for another name. */
  moved: string
  people: { email: string; role: 'admin' | 'member' }[]
  /** The team that all of these people are in. */
  crew: string
  invited: string
  tokens: string[]
  placements: string[]
  /** A lease target for SSH certificates. */
  target: string
  rotated: string
  /** An app at a platform, to which the first environment is pushed. */
  destination: string
  /** The vault project, whose users connect accounts. */
  product: { name: string; accent: string }
  agent: { name: string; slug: string }
  /** The proposals in the protected environment. */
  proposals: { name: string; value: string; note: string }[]
}

const everywhere = (value: string) => [value, value, value]

/** A team with ordinary names. */
export const harbour: Team = {
  org: { name: 'Harbour', slug: 'harbour' },
  app: { name: 'Web shop', slug: 'web-shop' },
  group: { name: 'Shared', slug: 'shared' },
  envs: [
    { name: 'Production', slug: 'production' },
    { name: 'Staging', slug: 'staging' },
    { name: 'Development', slug: 'development' },
  ],
  branch: { name: 'New checkout', slug: 'new-checkout' },
  secrets: {
    CACHE_URL: ['redis://cache.internal:6379', 'redis://cache.staging:6379', 'redis://localhost:6379'],
    DATABASE_URL: ['postgres://shop@db.internal/shop', 'postgres://shop@db.staging/shop', 'postgres://localhost/shop'],
    FEATURE_FLAGS: ['checkout', 'checkout,search', 'checkout,search'],
    LOG_LEVEL: ['info', 'info', 'debug'],
    PAYMENT_API_KEY: ['live_6f1b0c2e94', 'test_20ad9c77e1', 'test_20ad9c77e1'],
    PAYMENT_WEBHOOK_SECRET: ['whsec_8d41f0', 'whsec_51c9aa', null],
    PUBLIC_URL: ['https://shop.example.com', 'https://staging.example.com', 'http://localhost:3000'],
    SEARCH_API_KEY: ['search_93ce10', null, null],
    SESSION_SECRET: ['c2Vzc2lvbi1wcm9k', 'c2Vzc2lvbi1zdGFn', 'c2Vzc2lvbi1kZXY'],
    SMTP_HOST: everywhere('mail.example.com'),
    SMTP_PASSWORD: everywhere('m41l-relay'),
    STORAGE_BUCKET: ['shop-media', 'shop-media-staging', null],
    TAX_SERVICE_URL: everywhere('https://tax.example.com/v2'),
    WORKER_TOKEN: ['wrk_77f2', 'wrk_1b0d', 'wrk_1b0d'],
  },
  shared: { ERROR_REPORTING_DSN: 'https://key@errors.example.com/4', REGION: 'eu-central' },
  moved: 'WORKER_TOKEN',
  people: [
    { email: 'grace@example.com', role: 'admin' },
    { email: 'alan@example.com', role: 'member' },
    { email: 'edsger@example.com', role: 'member' },
  ],
  crew: 'Storefront',
  invited: 'barbara@example.com',
  tokens: ['web in production', 'nightly backup'],
  target: 'hosts of the shop',
  rotated: 'SESSION_SECRET',
  destination: 'harbour-shop',
  product: { name: 'Northwind', accent: '#3366cc' },
  agent: { name: 'Release builder', slug: 'release-builder' },
  placements: ['.env.old in the archive', 'wiki, page “Deploying by hand”'],
  proposals: [
    {
      name: 'DATABASE_URL',
      value: 'postgres://shop@db-2.internal/shop',
      note: 'The database moves to the new cluster on Thursday.',
    },
    { name: 'RATE_LIMIT', value: '240', note: 'So that it can be raised without a release.' },
  ],
}

const long = (text: string, length = 64) => text.repeat(Math.ceil(length / text.length)).slice(0, length)
const longSlug = (text: string) => long(text, 60)

/** A team whose names are far longer than usual, and without a space to break at. */
export const longNames: Team = {
  org: { name: long('Interorganizational'), slug: longSlug('interorganizational') },
  app: { name: long('Applicationwithalongname'), slug: longSlug('applicationwithalongname') },
  group: { name: long('Groupwithalongname'), slug: longSlug('groupwithalongname') },
  envs: [
    { name: long('Environmentwithalongname'), slug: longSlug('environmentwithalongname') },
    { name: long('Secondenvironment'), slug: longSlug('secondenvironment') },
  ],
  branch: { name: long('Branchwithalongname'), slug: longSlug('branchwithalongname') },
  secrets: {
    [long('SECRET_WITH_A_VERY_LONG_NAME_', 90)]: [long('value', 400), long('othervalue', 400)],
    [long('ANOTHER_LONG_NAME_', 70)]: [long('same'), long('same')],
    [long('MISSING_AT_ONE_', 70)]: [long('here'), null],
    SHORT: ['1', '2'],
  },
  shared: { [long('SHARED_SECRET_NAME_', 80)]: long('shared') },
  moved: 'SHORT',
  people: [
    { email: `${long('firstnameandlastname', 40)}@${long('subdomain', 12)}.example.com`, role: 'admin' },
    { email: `${long('somebodyelse', 48)}@example.com`, role: 'member' },
  ],
  crew: long('Teamwithalongname'),
  invited: `${long('invitedperson', 64)}@${long('subdomain', 60)}.example.com`,
  tokens: [long('tokenwithalongname', 120)],
  target: long('targetwithalongname'),
  rotated: long('SECRET_WITH_A_VERY_LONG_NAME_', 90),
  destination: long('destination-with-a-long-name', 60),
  product: { name: long('productwithoutspaces', 120), accent: '#ffe066' },
  agent: { name: long('Agentwithalongname'), slug: longSlug('agentwithalongname') },
  placements: [long('placementwithoutspaces', 120)],
  proposals: [
    { name: long('PROPOSED_SECRET_', 90), value: long('proposed', 300), note: long('reasonwithoutaspace', 200) },
  ],
}

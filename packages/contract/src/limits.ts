/** Every limit of the API for its callers, with the unit in the name. */
export const limits = {
  bodyBytes: 2 * 1024 * 1024,
  /** Bodies of operations without a credential, because anyone can send them. */
  openBodyBytes: 64 * 1024,
  /** How deep objects and arrays in a body may be nested. */
  jsonLevels: 32,
  ciphertextBytes: 1024 * 1024,
  /** A wrapped 32-byte key is about 220 characters; recovery shares and PKCS8 keys wrap longer. */
  wrappedKeyCharacters: 4096,
  publicKeyCharacters: 1024,
  /** A service-account key of a cloud is about 2,400 characters, and wrapping adds a third. */
  wrappedCredentialCharacters: 16_384,
  /** The longest text that a provisioner may report about a target or a failure. */
  provisionerTextCharacters: 500,
  /** The most objects of each kind that the audit entry of an ended lease names. */
  leaseObjectsNamedMax: 100,
  /** Balancers often cut a request off after 30 seconds without an answer. */
  provisionerWaitSecondsMax: 25,
  sealedPrivateKeyCharacters: 4096,
  displayNameCharacters: 200,
  emailCharacters: 254,
  noteCharacters: 2000,
  branchTtlDefaultSeconds: 7 * 86_400,
  branchTtlMinSeconds: 1,
  branchTtlMaxSeconds: 30 * 86_400,
  branchGrantsMax: 200,
  resolveWithMax: 50,
  compositionPositionMax: 1_000_000,
  versionsDefault: 50,
  versionsMax: 200,
  auditDefault: 50,
  auditMax: 200,
  auditLeavesMax: 1000,
  timelineDaysDefault: 30,
  timelineDaysMax: 366,
  timelineHoursMax: 48,
  urlCharacters: 2048,
  logSinkHeadersMax: 20,
  logSinkHeaderCharacters: 4096,
  planIdCharacters: 32,
  promoCodeCharacters: 64,
  listMax: 1000,
  syncRunsDefault: 50,
  cursorCharacters: 500,
  inviteTtlSeconds: 7 * 86_400,
  accessRequestEnvironmentsMax: 200,
  accessRequestsOpenMax: 50,
  accessRequestTtlSeconds: 30 * 86_400,
  grantSecondsMin: 300,
  grantSecondsMax: 90 * 86_400,
  teamsMax: 200,
  teamMembersMax: 500,
  teamEnvironmentsMax: 500,
  inviteTeamsMax: 50,
  /** Environments that a person, or an invitation, shall get without a team. */
  plannedGrantsMax: 500,
  missingGrantsDefault: 200,
  /** Key grants in one request. A client grants more in further requests. */
  grantsAtOnceMax: 100,
  /** A root or a head, with signatures. */
  directoryDocumentCharacters: 100_000,
  directoryEntryCharacters: 65_536,
  branchManifestCharacters: 8192,
  joiningTextCharacters: 2000,
  rekeyManifestsMax: 500,
  /** Entries in one request. A client signs more in further heads. */
  directoryEntriesAtOnceMax: 2000,
  directoryEntriesDefault: 1000,
  directoryEntriesMax: 2000,
  /** Pins that a client names, of which the chain must contain each. */
  directoryPinsMax: 10,
  /** Entries that one request asks for. */
  directoryProofsMax: 100,
  machineAccessTtlSeconds: 3600,
  sessionTokenTtlSeconds: 600,
  sessionIdleSeconds: 14 * 86_400,
  sessionMaxSeconds: 90 * 86_400,
  magicLinkTtlSeconds: 900,
  challengeTtlSeconds: 300,
  /** How long a sign-in at an issuer waits to be linked to an existing person, however many links are mailed meanwhile. */
  identityLinkTtlSeconds: 3600,
  /** How long a second factor counts as fresh after it was entered. */
  mfaFreshSeconds: 600,
  recoveryCodes: 10,
  passkeysMax: 10,
  credentialIdCharacters: 1400,
  cliLoginTtlSeconds: 600,
  cliLoginPollSeconds: 2,
  cliSessionTtlSeconds: 90 * 86_400,
  requiredApprovalsMax: 20,
  requiredApprovalsDefault: 1,
  /** Secrets in one proposal: as many as a person can review. */
  changeGroupMax: 200,
  rotationIntervalMinSeconds: 300,
  rotationIntervalMaxSeconds: 31_536_000,
  /** The most deleted secrets that an environment keeps. They count towards no quota. */
  deletedSecretsMax: 1000,
  /** The description and the tags of a secret, which clients encrypt together. */
  descriptionCharacters: 500,
  tagsMax: 10,
  tagCharacters: 32,
  /** The longest description and tags, encrypted. A re-key takes those of a full environment in one request. */
  sealedDetailsCharacters: 4800,
  /** The former names of a secret, and its versions under them, that a client can still open. A client cannot open older ones. */
  formerNamesMax: 20,
  formerVersionsMax: 1000,
  /** The longest record of former names, encrypted. */
  formerNamesCharacters: 64 * 1024,
  /** The personal overrides of one person in one environment: how many, and how long all of them are, encrypted. */
  overridesMax: 100,
  overridesCharacters: 4 * 1024 * 1024,
  /** The largest number of secrets in an environment. */
  rekeySecretsMax: 5000,
  /** A policy of a thousand long rules fits. */
  policyBundleCharacters: 512 * 1024,
  agentPoliciesListed: 50,
  policyExpiryMinSeconds: 3600,
  policyExpiryMaxSeconds: 90 * 86_400,
  agentTasksListed: 50,
  taskTtlDefaultSeconds: 900,
  taskTtlMinSeconds: 60,
  taskTtlMaxSeconds: 43_200,
  taskScopesMax: 1000,
  activityEntriesMax: 500,
  activitySecretsMax: 1000,
  /** The same limit as in one proxy. A run that goes wild must not fill the database. */
  activityCellsPerHour: 5000,
  activityWindowSeconds: 25 * 3600,
  activityDaysDefault: 14,
  activityDaysMax: 90,
  /** The busiest hosts, whose activity is shown over time. */
  activityTimelineHosts: 8,
  /** Activity over at most this many days is shown by the hour, and over more days by the day. */
  activityHourlyDays: 2,
  /** Grants of a managed key that is made or rotated in one request: some 330 characters each. */
  kmsGrantsMax: 2000,
  rekeyGrantsMax: 2000,
  /** The limit of Shamir's scheme over GF(256). */
  recoverySharesMax: 255,
  recoveryThresholdMin: 2,
  /** Environments in one request. More are covered by further requests. */
  recoveryGrantsMax: 4000,
  recoveryRequestTtlSeconds: 7 * 86_400,
  /** The keys of the environment, of the groups composed into it, and of a branch’s parent. */
  syncWrappedDeksMax: 200,
  syncPatternsMax: 200,
  syncAdoptNamesMax: 1000,
  /** After this time the key pair of a connection that was never created is deleted. */
  syncUnusedKeySeconds: 86_400,
  /** How long a request waits for a run. A longer run continues without the caller. */
  syncRunAnswerSeconds: 55,
  vaultUserRefCharacters: 255,
  /** Enough for an icon of 128 pixels, as a data URL. */
  vaultLogoCharacters: 32_768,
  vaultReturnOriginsMax: 16,
  vaultProvidersMax: 200,
  vaultScopesMax: 100,
  vaultRegistrationCodeTtlSeconds: 600,
  vaultLinkTtlMinSeconds: 60,
  vaultLinkTtlDefaultSeconds: 3600,
  vaultLinkTtlMaxSeconds: 86_400,
  /** How long a browser may use a link that it has opened. */
  vaultClaimTtlSeconds: 1800,
  vaultConnectionsDefault: 100,
  vaultWrappingKeysMax: 100,
  /** The most webhooks of one vault project. */
  vaultWebhooksMax: 10,
  vaultDeliveriesDefault: 50,
  /**
   * Open streams of events of one person or token, and of everybody, on one server. An organization may have as many as
   * it leaves to others.
   */
  liveStreamsPerCaller: 8,
  liveStreamsMax: 2000,
  /** A stream ends after this time, and its client opens another. */
  liveStreamSeconds: 3600,
  /** A client that has this much left to read gets no more events until it has caught up. */
  liveUnreadBytes: 32 * 1024,
  /** The time for which a person is shown at an application without a further call. */
  presenceSeconds: 30,
  /** The most people whom an event names at an application. */
  presencePeopleMax: 50,
  /** An environment is re-keyed in one request, which contains all of its secrets. */
  rekeyBodyBytes: 64 * 1024 * 1024,
} as const

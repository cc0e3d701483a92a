const typeNames: Readonly<Record<string, string>> = { user: 'person', service_token: 'token', m2m: 'machine client' }

/** The word for a kind of principal in tables: `person` for `user`. */
export const typeName = (type: string): string =>
  Object.hasOwn(typeNames, type) ? typeNames[type]! : type.replaceAll('_', ' ')

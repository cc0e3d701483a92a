/** Hosts that serve public files to any site. They store nothing about a person. */
export const domainSets = {
  'common-cdns': [
    'ajax.aspnetcdn.com',
    'ajax.googleapis.com',
    'cdn.jsdelivr.net',
    'cdnjs.cloudflare.com',
    'code.jquery.com',
    'fonts.bunny.net',
    'fonts.googleapis.com',
    'fonts.gstatic.com',
    'maxcdn.bootstrapcdn.com',
    'p.typekit.net',
    'stackpath.bootstrapcdn.com',
    'unpkg.com',
    'use.fontawesome.com',
    'use.typekit.net',
    'www.gstatic.com',
  ],
} as const satisfies Record<string, readonly string[]>

export type DomainSet = keyof typeof domainSets

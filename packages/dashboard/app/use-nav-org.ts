import { useParams, useRouteContext } from '@tanstack/react-router'
import { useEffect } from 'react'

/** The sessionStorage key for the slug of the organization that this tab showed last. */
const storageKey = 'skerry-org'

/**
 * The organization of the navigation. It is the one in the address. On pages without one, such as the account, it is
 * the last one shown. It is undefined for a person without an organization.
 */
export function useNavOrg() {
  const { me } = useRouteContext({ from: '/_app' })
  const { org: slug } = useParams({ strict: false })
  useEffect(() => {
    if (slug !== undefined) sessionStorage.setItem(storageKey, slug)
  }, [slug])
  const bySlug = (wanted: string | null) => me.orgs.find((org) => org.slug === wanted)
  return slug === undefined ? (bySlug(sessionStorage.getItem(storageKey)) ?? me.orgs[0]) : bySlug(slug)
}

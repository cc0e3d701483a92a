import { useParams, useRouteContext } from '@tanstack/react-router'
import { useEffect } from 'react'

/** Where this tab keeps the slug of the organization that it showed last. */
const storageKey = 'skerry-org'

/**
 * The organization that the navigation is about: that of the address, or on pages without one, such as the account, the one
 * that was shown last. undefined for a person who is in none.
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

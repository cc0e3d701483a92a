// Vite puts every variable that begins with VITE_ into the files that browsers load. None of them may be secret.
document.querySelector('h1').textContent = import.meta.env.VITE_SHOP_NAME

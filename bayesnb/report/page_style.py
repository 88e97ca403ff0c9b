"""The look of a report page and the few lines of script that sort its tables; both stand inside the page."""

CSS = """
:root{--ink:#1b1c1d;--soft:#5b6065;--rule:#d9dcdf;--paper:#fff;--band:#f5f6f7;--link:#00599c;--card:#fff;
color-scheme:light dark}
@media (prefers-color-scheme:dark){:root{--ink:#e6e7e8;--soft:#a3a9af;--rule:#3a3f44;--paper:#16181a;--band:#1e2124;
--link:#7cbcf2;--card:#fff}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,
"Helvetica Neue",Arial,sans-serif}
main,header,footer{max-width:66rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:3rem}
h1{font-size:clamp(1.6rem,1.2rem + 2vw,2.3rem);line-height:1.2;letter-spacing:-.015em;margin:0 0 .75rem;
text-wrap:balance}
h1,h2,dt,li,caption,figcaption{overflow-wrap:anywhere}
h2{font-size:1.3rem;line-height:1.3;margin:0 0 .75rem;letter-spacing:-.01em}
p{max-width:44rem;margin:0 0 1rem;overflow-wrap:anywhere}
.lead{font-size:1.125rem;color:var(--soft);white-space:pre-line}
nav{border-block:1px solid var(--rule);margin:1.5rem 0 0;padding:.7rem 0}
nav ol{list-style:none;display:flex;flex-wrap:wrap;gap:.3rem 1.4rem;margin:0;padding:0;font-size:.92rem}
a{color:var(--link);text-decoration:none}
a:hover,a:focus-visible{text-decoration:underline}
section{padding:2.2rem 0 .6rem;border-bottom:1px solid var(--rule);scroll-margin-top:1rem}
section:last-of-type{border-bottom:0}
section>*+.facts,section>*+figure,section>*+.table{margin-top:1.25rem}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(10.5rem,1fr));gap:1rem 1.75rem;margin:0 0 1.5rem}
.facts div{border-top:2px solid var(--rule);padding-top:.45rem;min-width:0}
.facts dt{font-size:.82rem;color:var(--soft)}
.facts dd{margin:.1rem 0 0;font-size:1.06rem;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.table{margin:0 0 1.5rem}
.scroll,.card{overflow-x:auto;--back:var(--paper);background:linear-gradient(90deg,var(--back) 40%,transparent),
linear-gradient(-90deg,var(--back) 40%,transparent) 100% 0,linear-gradient(90deg,#0004,transparent),
linear-gradient(-90deg,#0004,transparent) 100% 0;background-color:var(--back);background-repeat:no-repeat;
background-size:2rem 100%,2rem 100%,.6rem 100%,.6rem 100%;background-attachment:local,local,scroll,scroll}
.scroll:focus-visible{outline:2px solid var(--link);outline-offset:2px}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
caption{caption-side:top;text-align:left;font-size:.92rem;color:var(--soft);padding:0 0 .5rem;
position:sticky;left:0;max-width:min(44rem,calc(100vw - 2.5rem))}
th,td{padding:.32rem .8rem .32rem 0;text-align:left;white-space:nowrap;vertical-align:baseline}
th:last-child,td:last-child{padding-right:.3rem}
thead th{font-weight:600;border-bottom:1px solid var(--soft);white-space:normal;vertical-align:bottom;
max-width:9.5rem;line-height:1.3}
tbody th{font-weight:400}
tbody tr>*{border-bottom:1px solid var(--rule)}
tbody tr:hover>*{background:var(--band)}
.n{text-align:right;padding-left:.8rem}
.long{white-space:normal;min-width:14rem;max-width:26rem;overflow-wrap:anywhere}
th button{all:unset;cursor:pointer;position:relative}
th button:hover{color:var(--link)}
th button:focus-visible{outline:2px solid var(--link);outline-offset:2px}
th button::after{position:absolute;right:-.85em;bottom:0;color:var(--soft)}
th.n button::after{right:auto;left:-.85em}
th[aria-sort=ascending] button::after{content:"\\2191"}
th[aria-sort=descending] button::after{content:"\\2193"}
figure{margin:0 0 1.5rem}
.card{--back:var(--card);border:1px solid var(--rule);border-radius:4px;padding:.75rem}
.card img{display:block;max-width:100%;height:auto;margin:0 auto}
figcaption,.note{font-size:.88rem;color:var(--soft);margin:.5rem 0 0;max-width:44rem}
footer{padding:1.5rem 1.25rem 3rem;font-size:.85rem;color:var(--soft)}
footer p{margin:0 0 .35rem}
@media (max-width:700px){header{padding-top:1.75rem}.facts{grid-template-columns:repeat(auto-fill,minmax(8.5rem,1fr))}
.card img{min-width:620px}.card{padding:.4rem}}
@media print{:root{--ink:#000;--soft:#444;--rule:#bbb;--paper:#fff;--band:#fff;--link:#000}
body{font-size:10pt}nav{display:none}
figure,.facts,tr{break-inside:avoid}h2{break-after:avoid}.scroll{overflow:visible}.card{border:0;padding:0}
header{padding-top:0}}
"""

# Without script the tables are as they were written: buttons appear only where they work.
SCRIPT = """
for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.title = "Sort";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const first = head.classList.contains("n") ? "descending" : "ascending";
      const second = first === "ascending" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === first ? second : first;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const key = row => row.cells[column].dataset.v ?? row.cells[column].textContent;
      const compare = (a, b) => {
        if (!head.classList.contains("n")) return sign * a.localeCompare(b, undefined, {numeric: true});
        if (a === "" || b === "") return (a === "") - (b === "");
        return sign * (Number(a) - Number(b) || 0);
      };
      const rows = [...table.tBodies[0].rows];
      table.tBodies[0].append(...rows.sort((a, b) => compare(key(a), key(b))));
    });
  });
}
"""
